"""Operations on words of bits that numba lacks, as code for LLVM."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 8  # words that are counted together


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of the word are set, in one machine instruction."""
    del typing_context

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is set."""
    del typing_context

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.uint64), generate


def _common(*kinds: Any) -> Any:
    """How many rows are in all of the sets, in the words from start to end: whole blocks of them.

    Written for vectors of a block: a loop over so few words would mostly be its beginning and end.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block = ir.VectorType(ir.IntType(64), BLOCK)
        start, end, *sets = arguments
        pointers = [
            context.make_array(kind)(context, builder, held).data
            for kind, held in zip(signature.args[2:], sets, strict=True)
        ]
        total = cgutils.alloca_once_value(builder, ir.Constant(block, [0] * BLOCK))
        step = context.get_constant(types.intp, BLOCK)
        with cgutils.for_range_slice(builder, start, end, step) as (at, _):
            both = None
            for pointer in pointers:
                place = builder.bitcast(builder.gep(pointer, [at]), block.as_pointer())
                word = builder.load(place, align=8)
                both = word if both is None else builder.and_(both, word)
            found = builder.call(_declared(builder, "llvm.ctpop.v8i64", block, block), [both])
            builder.store(builder.add(builder.load(total), found), total)
        add = _declared(builder, "llvm.vector.reduce.add.v8i64", ir.IntType(64), block)
        return builder.call(add, [builder.load(total)])

    return types.int64(types.intp, types.intp, *kinds), generate


def _declared(builder: Any, name: str, result: Any, argument: Any) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)


@intrinsic  # type: ignore[untyped-decorator]
def common_of_two(typing_context: Any, start: Any, end: Any, a: Any, b: Any) -> Any:
    """The rows in both sets, counted in the words from start to end."""
    del typing_context, start, end
    return _common(a, b)


@intrinsic  # type: ignore[untyped-decorator]
def common_of_three(typing_context: Any, start: Any, end: Any, a: Any, b: Any, c: Any) -> Any:
    """The rows in all three sets."""
    del typing_context, start, end
    return _common(a, b, c)


@intrinsic  # type: ignore[untyped-decorator]
def common_of_four(
    typing_context: Any, start: Any, end: Any, a: Any, b: Any, c: Any, d: Any
) -> Any:
    """The rows in all four sets."""
    del typing_context, start, end
    return _common(a, b, c, d)
