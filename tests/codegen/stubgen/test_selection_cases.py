from __future__ import annotations

from typed_nnx_codegen.stubgen.selection_cases import TARGET, text


def test_the_generated_case_file_is_what_the_generator_writes() -> None:
    assert TARGET.read_text(encoding="utf-8") == text()
