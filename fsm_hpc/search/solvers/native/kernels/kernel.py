"""Compile kernels once and keep them: the only module that uses numba's private interface.

A kernel is called from Python. What it calls, and nothing else does, is a part or a subroutine:
numba then needs neither wrappers nor machine code for it, only its intermediate code, which is
linked and optimized once, in the kernel.
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
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np import arrayobj

# Kernels make no arrays, and who calls them holds those that they are given: counting references
# to them, which is done in atomic steps, would take a third of the time of small boxes.
# They divide by nothing that may be 0.
OPTIONS = {"nogil": True, "boundscheck": False, "_nrt": False, "error_model": "numpy"}
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
unkept: list[OSError] = []  # why kernels that this process compiled could not be written


def kernel(function: Callable[..., Any]) -> Any:
    """Compiled without the interpreter's lock, so that threads run side by side."""
    options = OPTIONS | {"no_cfunc_wrapper": True, "forceinline": False}
    options["pipeline_class"] = _Compiler
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


_functions: Any = BaseFunction
_usual_call_type = _functions.get_call_type
_call_types: dict[Any, Any] = {}


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The type of a call, say of the sum of two integers: numba looks it up anew every time."""
    key = function, tuple(args), tuple(kws.items())
    if key not in _call_types:
        _call_types[key] = _usual_call_type(function, context, args, kws)
    return _call_types[key]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimized once, as a whole."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _Executable(_Library):
    """A kernel, which alone calls its copy of what it took over: arguments may be left out."""

    def finalize(self) -> None:
        libraries = self._linking_libraries
        for library in libraries:  # grows meanwhile: what parts call, and the parts of parts
            if isinstance(library, _Intermediate):
                libraries.extend(one for one in library._linking_libraries if one not in libraries)
        super().finalize()

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.is_declaration:
                continue
            if function.linkage is Linkage.linkonce_odr:
                function.linkage = "internal"
            else:  # fields of a structure are invariant in the kernel, not where they are stored
                function.add_function_attribute("noinline")
        # numba optimizes twice, the first time for references, which are not counted here
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _NoEnvironment:
    """Code that never runs by itself has no place in memory for its Python globals."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None: ...


class _Intermediate(_Library):
    """Code for kernels to take over: not optimized by itself, and never made executable."""

    codegen = _NoEnvironment

    def finalize(self) -> None:
        """Leave it to the kernel to link what this calls: numba would copy it at every level."""
        self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        del name
        self._ensure_finalized()
        return 0


class _Compiler(Compiler):  # type: ignore[misc]
    """Takes every index as it is: numba would count negative ones from the end.

    No kernel has any, and asking each time takes an eighth to a quarter of the time. Types of calls
    are looked up once, which saves a quarter of the time to compile.
    """

    _library: ClassVar[type[JITCodeLibrary]] = _Executable

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()

    def _compile_core(self) -> Any:
        usual = arrayobj.fix_integer_index, _functions.get_call_type
        arrayobj.fix_integer_index, _functions.get_call_type = _index_as_it_is, _call_type
        try:
            return super()._compile_core()
        finally:
            arrayobj.fix_integer_index, _functions.get_call_type = usual


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

    def load_or_none(*wanted: Any) -> Any:
        try:
            return load(*wanted)
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
    """Compiled once, not again for every constant or narrow integer among its arguments.

    numba tries a constant as a type of its own first, with all that is called from there: the
    kernels of the near-optimal set took twice as long to compile.
    """
    usual = compiled.get_call_template

    def template(args: Any, kws: Any) -> Any:
        return usual(tuple(map(_plain, args)), {name: _plain(given) for name, given in kws.items()})

    compiled.get_call_template = template
    return compiled


# ------------------------------------------------------------------------------------ structures


class Structure(types.Type):  # type: ignore[misc]
    """The type of a named tuple that kernels read through a pointer.

    numba would pass and copy every field of a tuple by itself: with some hundred of them in most
    functions, that took more than half of the time to compile.
    """

    def __init__(self, kind: Any, members: tuple[Any, ...]) -> None:
        self.kind, self.members = kind, members
        digest = hashlib.sha256(str(members).encode()).hexdigest()[:16]
        super().__init__(f"{kind.__name__}_{digest}")


def structure(kind: Any) -> Any:
    """Have kernels read this named tuple, an argument from Python, through a pointer."""

    @typeof_impl.register(kind)  # type: ignore[untyped-decorator]
    def type_of(value: Any, context: Any) -> Structure:
        return Structure(kind, tuple(typeof_impl(member, context) for member in value))

    return kind


@register_model(Structure)
class _StructureModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Structure) -> None:
        members = [manager.lookup(member).get_value_type() for member in kind.members]
        self._layout = ir.LiteralStructType(members)
        super().__init__(manager, kind, self._layout.as_pointer())

    def from_argument(self, builder: Any, value: Any) -> Any:
        size = self._layout.get_abi_size(cpu_target.target_context.target_data)
        value.attributes.dereferenceable = size  # so that fields may be read ahead of loops
        return value


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Structure

    def generic_resolve(self, kind: Structure, name: str) -> Any:
        fields = kind.kind._fields
        return kind.members[fields.index(name)] if name in fields else None


@lower_getattr_generic(Structure)  # type: ignore[untyped-decorator]
def _read_field(context: Any, builder: Any, kind: Structure, value: Any, name: str) -> Any:
    del context
    place = kind.kind._fields.index(name)
    # of an array its owner, the object that it is a view of and its length are never read
    first = 3 if isinstance(kind.members[place], types.Array) else 0
    return _invariant(builder, cgutils.gep_inbounds(builder, value, 0, place), first)


def _invariant(builder: Any, pointer: Any, first: int = 0) -> Any:
    """Read something that no kernel changes, number by number: only then LLVM knows that."""
    kind = pointer.type.pointee
    if isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        found = ir.Constant(kind, ir.Undefined)
        for at in range(first, len(kind)):
            part = _invariant(builder, cgutils.gep_inbounds(builder, pointer, 0, at))
            found = builder.insert_value(found, part, at)
        return found
    value = builder.load(pointer)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(Structure)  # type: ignore[untyped-decorator]
def _unbox_structure(kind: Structure, value: Any, c: Any) -> NativeValue:
    pointer = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
    is_error = cgutils.false_bit
    for at, member in enumerate(kind.members):
        field = c.unbox(member, c.pyapi.tuple_getitem(value, at))
        c.builder.store(field.value, cgutils.gep_inbounds(c.builder, pointer, 0, at))
        is_error = c.builder.or_(is_error, field.is_error)
    return NativeValue(pointer, is_error=is_error)


def _plain(given: Any) -> Any:
    kind = types.unliteral(given)
    return types.int64 if kind == types.int32 else kind


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
