"""How soundly a run was worked: rules over its trace, each with the text it rests on."""
