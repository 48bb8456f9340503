"""Compile kernels once and keep them: the only module that uses numba's private interface.

A kernel is called from Python. What it calls, and nothing else does, is a part or a subroutine:
numba then needs neither wrappers nor machine code for it, only its intermediate code, which is
optimized where it is used. That takes a third of the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from llvmlite import ir
from llvmlite.binding import Linkage
from numba import njit, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic
from numba.np import arrayobj

# Kernels make no arrays, and who calls them holds those that they are given: counting references
# to them, which is done in atomic steps, would take a third of the time of small boxes.
# They divide by nothing that may be 0.
OPTIONS = {"nogil": True, "boundscheck": False, "_nrt": False, "error_model": "numpy"}
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
unkept: list[OSError] = []  # why kernels that this process compiled could not be written


def kernel(function: Callable[..., Any]) -> Any:
    """Compiled without the interpreter's lock, so that threads run side by side."""
    options = OPTIONS | {"no_cfunc_wrapper": True, "pipeline_class": _Compiler}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write: not here, not in the user's cache
        return _by_type(njit(**options)(function))
    # numba renews a kept kernel when its own file changes, not when one that it calls does;
    # without a cache, or in another numba, its own rule has to do
    with suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = stamp()
        _forgive(compiled._cache)
    return _by_type(compiled)


def part(function: Callable[..., Any]) -> Any:
    """A piece of kernels that has a name of its own: it costs nothing to call."""
    return _internal(function, forceinline=True)


def subroutine(function: Callable[..., Any]) -> Any:
    """The same where the compiler decides whether a call or a copy is better."""
    return _internal(function, forceinline=False)


def _index_as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    del size
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


class _Executable(JITCodeLibrary):  # type: ignore[misc]
    """A kernel, which alone calls its copy of what it took over: arguments may be left out."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage is Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


class _NoEnvironment:
    """Code that never runs by itself has no place in memory for its Python globals."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None: ...


class _Intermediate(JITCodeLibrary):  # type: ignore[misc]
    """Code for kernels to take over: not optimized by itself, and never made executable."""

    codegen = _NoEnvironment

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        del name
        self._ensure_finalized()
        return 0


class _Compiler(Compiler):  # type: ignore[misc]
    """Takes every index as it is: numba would count negative ones from the end.

    No kernel has any, and asking each time takes an eighth to a quarter of the time.
    """

    _library: ClassVar[type[JITCodeLibrary]] = _Executable

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()

    def _compile_core(self) -> Any:
        usual = arrayobj.fix_integer_index
        arrayobj.fix_integer_index = _index_as_it_is
        try:
            return super()._compile_core()
        finally:
            arrayobj.fix_integer_index = usual


class _IntermediateCompiler(_Compiler):
    _library = _Intermediate


def _internal(function: Callable[..., Any], forceinline: bool) -> Any:
    options = OPTIONS | WITHOUT_WRAPPERS | {"forceinline": forceinline}
    compiled = njit(pipeline_class=_IntermediateCompiler, **options)(function)

    def keep(result: Any) -> None:
        compiled.overloads[tuple(result.signature.args)] = result

    def refuse(*args: Any, **kws: Any) -> None:
        raise TypeError(f"{function.__name__} is for kernels; Python calls kernel(it.py_func)")

    compiled.add_overload, compiled._compile_for_args = keep, refuse
    return _by_type(compiled)


def cache_folder(compiled: object) -> Path | None:
    """Where numba keeps compiled kernels: in the installation, or else in the user's cache."""
    try:
        return Path(compiled._cache._impl.locator.get_cache_path())  # type: ignore[attr-defined]
    except AttributeError:
        return None


def _forgive(kept: Any) -> None:
    """Compile anew what was damaged on disk, and go on where there is no room to write."""
    load, save = kept.load_overload, kept.save_overload

    def load_or_none(*asked: Any) -> Any:
        try:
            return load(*asked)
        except Exception:  # a cut or foreign pickle may fail in any way
            with suppress(OSError):
                kept.flush()
            return None

    def save_or_tell(*made: Any) -> None:
        try:
            save(*made)
        except OSError as error:
            unkept.append(error)

    kept.load_overload, kept.save_overload = load_or_none, save_or_tell


def _by_type(compiled: Any) -> Any:
    """Compiled once for each type of its arguments, not again for every constant among them.

    numba tries a constant as a type of its own first, with all that is called from there: the
    kernels of the near-optimal set took twice as long to compile.
    """
    usual = compiled.get_call_template

    def template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(given) for name, given in kws.items()}
        return usual(tuple(types.unliteral(given) for given in args), plain)

    compiled.get_call_template = template
    return compiled


@cache
def stamp() -> str:
    """Of the sources of all kernels."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


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
