"""Chapter 10: counting parameters and bytes."""


def table_cost(
    V: int,
    d: int,
    tied: bool,
    factor_m: int | None = None,
) -> tuple[int, int]:
    """What a model's token tables cost: parameters, and bytes in training.

    Parameters
    ----------
    V : int
        Vocabulary size: the number of rows of a table, 1 or more. A NumPy
        integer of any width, such as ``np.int32(50257)``, is allowed here and
        for the other two sizes.
    d : int
        Width of the model, 1 or more.
    tied : bool
        True if the output layer is the input table: there is one table.
        False if it is a table of its own, of the same kind: there are two.
    factor_m : int, optional
        None means that a table is one matrix of V rows and d columns.
        Otherwise each table is the product of two matrices, of shapes
        (V, factor_m) and (factor_m, d), and only these two are stored. 1 or
        more; it may be larger than d.

    Returns
    -------
    parameters : int
        Numbers stored in all tables together.
    bytes : int
        Bytes for those parameters while Adam trains them in float32: weight,
        gradient and two moments, of 4 bytes each.

        The two stand in a tuple. Both are Python integers (of type ``int``,
        not a float and not a NumPy integer), and exact for sizes of any
        magnitude.
    """
    ### BEGIN SOLUTION
    V, d = int(V), int(d)
    one_table = V * d if factor_m is None else V * int(factor_m) + int(factor_m) * d
    parameters = one_table if tied else 2 * one_table
    return parameters, 16 * parameters
    ### END SOLUTION
