"""Write a table in LaTeX."""

from __future__ import annotations

import unicodedata

from fsm_hpc.formulas.text import escape_latex
from fsm_hpc.report.tables.tabular import Line, Math, Table, show_number

LONG = 45  # longer tables are divided over pages


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, with composed accents for pdflatex."""
    return escape_latex(unicodedata.normalize("NFC", " ".join(text.split())))


def to_latex(table: Table) -> str:
    """A table for \\input; needs booktabs, and longtable if it is longer than a page."""
    is_long = len(table.lines) > LONG
    write = _long_latex if is_long else _float_latex
    needs = "booktabs, longtable" if is_long else "booktabs"
    return f"% {table.name}: \\input this; needs \\usepackage{{{needs}}}\n" + write(table)


def _float_latex(table: Table) -> str:
    notes = _latex_notes(table)
    below = ["", "  \\smallskip", *notes] if notes else []
    return _joined(
        "\\begin{table}[htbp]",
        "  \\centering\\small",
        *(["  \\setlength{\\tabcolsep}{4pt}"] if len(table.columns) > 8 else []),
        f"  \\caption{{{latex_text(table.caption)}}}",
        f"  \\label{{tab:fsm-{table.name}}}",
        f"  \\begin{{tabular}}{{{_latex_columns(table)}}}",
        "    \\toprule",
        f"    {_latex_header(table)}",
        "    \\midrule",
        *_latex_lines(table),
        "    \\bottomrule",
        "  \\end{tabular}",
        *below,
        "\\end{table}",
    )


def _long_latex(table: Table) -> str:
    header = _latex_header(table)
    return _joined(
        "{\\small\\setlength{\\LTcapwidth}{\\linewidth}",
        f"\\begin{{longtable}}{{{_latex_columns(table)}}}",
        f"  \\caption{{{latex_text(table.caption)}}}",
        f"  \\label{{tab:fsm-{table.name}}} \\\\",
        f"    \\toprule {header} \\midrule \\endfirsthead",
        f"    \\toprule {header} \\midrule \\endhead",
        "    \\bottomrule \\endfoot",
        *_latex_lines(table),
        "\\end{longtable}",
        *_latex_notes(table),
        "}",
    )


def _latex_columns(table: Table) -> str:
    letters = [
        "p{0.42\\linewidth}" if c.is_wide else "l" if c.is_text else "r" for c in table.columns
    ]
    return "".join(letters)


def _latex_header(table: Table) -> str:
    labels = []
    for column in table.columns:
        label = latex_text(column.label)
        labels.append(label if column.is_text else f"\\multicolumn{{1}}{{c}}{{{label}}}")
    return " & ".join(labels) + " \\\\"


def _latex_lines(table: Table) -> list[str]:
    written = []
    for index, line in enumerate(table.lines):
        best = table.best(line)
        if line.opens_group and index:
            written.append("    \\addlinespace")
        cells = [
            "" if table.is_repeated(index, number) else _latex_cell(table, line, number, best)
            for number in range(len(table.columns))
        ]
        written.append("    " + " & ".join(cells) + " \\\\")
    return written


def _latex_cell(table: Table, line: Line, number: int, best: set[int]) -> str:
    cell = line.cells[number]
    mark = f"\\textsuperscript{{{table.notes[cell.note]}}}" if cell.note else ""
    if mark and not table.columns[number].is_text:
        mark = f"\\rlap{{{mark}}}"  # so that digits stay aligned
    if cell.content is None:
        return "--" + mark
    if cell.value is None:
        ragged = "\\raggedright " if table.columns[number].is_wide else ""
        return ragged + _latex_piece(cell.content) + mark  # type: ignore[arg-type]
    text = _latex_number(show_number(cell.value, table.columns[number], line.is_difference))
    text = f"\\textbf{{{text}}}" if number in best else text
    if cell.deviation is not None:
        text += f" $\\pm$ {show_number(cell.deviation, table.columns[number])}"
    return text + mark


def _latex_number(text: str) -> str:
    return f"$-${text[1:]}" if text.startswith("-") else text


def _latex_piece(piece: str | Math) -> str:
    return f"${piece.latex}$" if isinstance(piece, Math) else latex_text(piece)


def _latex_notes(table: Table) -> list[str]:
    lines = ["".join(_latex_remark(p) for p in remark) for remark in table.remarks]
    lines += [
        f"\\textsuperscript{{{letter}}}~{latex_text(text)}" for text, letter in table.notes.items()
    ]
    if not lines:
        return []
    ends = ["\\\\"] * (len(lines) - 1) + [""]
    body = [f"    {line}{end}" for line, end in zip(lines, ends, strict=True)]
    return ["  \\parbox{\\linewidth}{\\footnotesize\\raggedright", *body, "  }"]


def _latex_remark(piece: str | Math) -> str:
    """A piece of a remark, with the spaces at its ends."""
    if isinstance(piece, Math):
        return f"${piece.latex}$"
    before, after = (" " if piece[:1] == " " else ""), (" " if piece[-1:] == " " else "")
    return before + latex_text(piece) + after


def _joined(*lines: str) -> str:
    return "\n".join(lines) + "\n"
