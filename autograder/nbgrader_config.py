"""nbgrader's configuration of this course: the folder of this file, with the course id token-embeddings."""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbconvert.preprocessors.sanitize import SanitizeHTML

from autograder.exercises import STUB_BODY
from autograder.feedback import FeedbackPage, GetGradesAndName, StudentsView, find_any_student

c = get_config()  # noqa: F821  (nbgrader provides it)

course = Path(__file__).resolve().parent

# nbgrader looks for the program `alembic` in PATH, where it is only while the environment is activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

c.CourseDirectory.root = str(course)
c.CourseDirectory.course_id = "token-embeddings"

# The stub of a release is the stub on the chapter's page.
c.ClearSolutions.code_stub = {"python": STUB_BODY}
c.ClearSolutions.enforce_metadata = True

# `release_assignment`, `collect` and `list` go through this folder unless you name a shared one, as you would on a
# JupyterHub.
c.Exchange.root = str(course / "exchange")

# Reading, importing NumPy and seven checks take under two seconds; a loop without end should not take the night.
c.ExecutePreprocessor.timeout = 60

# Feedback: no source of hidden checks, and nothing of a submission that could run in the page or ask another host.
c.GenerateFeedback.exporter_class = FeedbackPage
c.GenerateFeedback.preprocessors = [GetGradesAndName, StudentsView, SanitizeHTML, CSSHTMLHeaderPreprocessor]
find_any_student()
c.SanitizeHTML.enabled = True
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {"markdown2html": "autograder.feedback.markdown_to_html"}
# Two more columns in grades.csv: what came of a submission, and why.
c.ExportApp.plugin_class = "autograder.export.GradesExport"
