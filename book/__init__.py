"""What the book itself needs: its figures, its text, and the extension that builds its pages."""
