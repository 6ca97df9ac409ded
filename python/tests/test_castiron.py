"""castiron's tensors in Python, beside NumPy, and PyTorch where it is installed."""

import gc
import itertools

import numpy as np
import pytest

import castiron as ci

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def same(x, array):
    seen = np.asarray(x)
    assert seen.shape == array.shape and seen.dtype == array.dtype
    np.testing.assert_array_equal(seen, array)


# Making tensors, and reading them.


def test_tensors_are_made_of_numbers_lists_and_arrays():
    x = ci.tensor([[1, 2], [3, 4]])
    assert (x.shape, x.stride, x.ndim, x.dtype, x.device, len(x)) == ((2, 2), (2, 1), 2, ci.int64, "cpu", 2)
    assert str(x) == "tensor([[1, 2],\n        [3, 4]])"
    assert ci.tensor(1.5).dtype == ci.float32 and ci.tensor(True).dtype == ci.bool and ci.tensor(1j).dtype == ci.complex64
    assert ci.tensor([1, 2], dtype="float64").dtype == ci.float64
    assert ci.tensor([1, 2], dtype=np.float16).dtype == ci.float16
    assert ci.tensor([1, 2], np.dtype("int8")).dtype == ci.int8
    assert [ci.tensor(1, dtype=of).dtype for of in (bool, int, float, complex)] == [ci.bool, ci.int64, ci.float64, ci.complex128]
    array = np.arange(6.0).reshape(2, 3)
    copy = ci.tensor(array)
    array[0, 0] = 99
    assert copy.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert ci.tensor(np.float32(2.5)).dtype == ci.float32
    assert ci.tensor(np.zeros((0, 3))).tolist() == []
    with pytest.raises(ValueError):
        ci.tensor([[1, 2], [3]])
    with pytest.raises(TypeError):
        ci.tensor(object())
    with pytest.raises(TypeError, match="no dtype"):
        ci.tensor([1], dtype="float33")


def test_numbers_come_out():
    assert ci.tensor([[2.5]]).item() == 2.5 and ci.tensor(3).item() == 3 and ci.tensor(True).item() is True
    assert ci.tensor(1 + 2j).item() == 1 + 2j
    assert float(ci.tensor([0.5])) == 0.5 and int(ci.tensor(7)) == 7 and [10, 20][ci.tensor(1)] == 20
    assert bool(ci.tensor([0.0])) is False and bool(ci.tensor(1)) is True
    assert ci.tensor([[True], [False]]).tolist() == [[True], [False]]
    assert [row.tolist() for row in ci.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="one element"):
        bool(ci.tensor([1, 2]))
    with pytest.raises(TypeError):
        len(ci.tensor(1))


def test_tensors_are_printed_in_a_format():
    x = ci.tensor([1.5, -0.25])
    assert f"{x:.2}" == "tensor([ 1.50, -0.25])"
    assert f"{x:8.3}" == "tensor([   1.500,   -0.250])"
    many = ci.tensor(np.arange(2000))
    assert "..." in f"{many}" and "..." not in f"{many:#}"
    assert "mean      0.625" in x.describe()
    for wrong in ["d", "8.", "-3", "99999999999", ".99999999"]:
        with pytest.raises(ValueError, match="no format"):
            format(x, wrong)


# Exchange of memory.


@pytest.mark.parametrize("name", NUMPY_DTYPES)
def test_arrays_are_shared_both_ways(name):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(name)
    x = ci.from_dlpack(array)
    assert str(x.dtype) == name
    same(x, array)
    seen = np.asarray(x)
    assert not seen.flags.writeable
    if name != "bool":
        assert seen.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    back = ci.from_dlpack(seen)
    same(back, array)


def test_memory_outlives_whoever_made_it():
    x = ci.from_dlpack(np.arange(1000))
    gc.collect()
    assert x.sum().item() == 499500
    array = np.asarray(ci.tensor(list(range(1000))))
    del x
    gc.collect()
    assert array.sum() == 499500
    # A capsule that nobody takes frees what is in it, in both forms.
    for version in [None, (1, 0)]:
        x = ci.tensor([1, 2, 3])
        capsule = x.__dlpack__(max_version=version)
        del capsule
        gc.collect()
        assert x.tolist() == [1, 2, 3]


class Holder:
    """An array that says when it is gone."""

    gone = 0

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __del__(self):
        Holder.gone += 1


class OldHolder(Holder):
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class Versioned(Holder):
    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def test_the_older_form_of_dlpack_goes_both_ways():
    array = np.arange(6.0).reshape(2, 3)
    for holder in [OldHolder(array), Versioned(array)]:
        x = ci.from_dlpack(holder)
        same(x, array)
        assert np.asarray(x).__array_interface__["data"][0] == array.__array_interface__["data"][0]
    # Who asks for it gets a copy, since it can't say that memory is read-only.
    x = ci.tensor([1.0, 2.0])
    old = np.from_dlpack(OldHolder(x))
    assert old.tolist() == [1.0, 2.0]
    assert old.__array_interface__["data"][0] != np.asarray(x).__array_interface__["data"][0]
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__(copy=False)


def test_strides_are_kept():
    array = np.arange(60).reshape(3, 4, 5)
    for part in [array.T, array[1:, ::2, 3], array[:, :0], array[1, 2, 3, ...], np.broadcast_to(array[0, 0], (2, 5))]:
        x = ci.from_dlpack(part)
        same(x, part)
        if part.size > 1:
            assert x.stride == tuple(stride // part.itemsize for stride in part.strides)
    x = ci.tensor(array)
    view = x.permute([2, 0, 1])[1:, ::2]
    assert view.shares_storage(x)
    same(view, array.transpose(2, 0, 1)[1:, ::2])
    with pytest.raises(ValueError, match="not all positive"):
        ci.from_dlpack(array[::-1])
    assert ci.tensor(array[::-1].copy()).tolist() == array[::-1].tolist()


def test_arrays_are_converted_and_copied_where_that_is_asked():
    x = ci.tensor([1, 2])
    assert np.asarray(x, dtype="float32").dtype == np.float32
    copy = np.array(x, copy=True)
    copy[0] = 9
    assert x.tolist() == [1, 2]
    with pytest.raises(ValueError):
        np.array(x, dtype="float32", copy=False)
    assert np.array(x, copy=False).tolist() == [1, 2]
    assert np.add(np.asarray(x), 1).tolist() == [2, 3]


def test_what_cannot_be_exchanged_is_an_error():
    x = ci.tensor([1.0])
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    # NumPy has no such dtype.
    with pytest.raises(Exception):
        np.asarray(ci.tensor([1.0], dtype="bfloat16"))
    with pytest.raises(Exception):
        ci.from_dlpack(3)

    class Gpu(Holder):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="kind 2"):
        ci.from_dlpack(Gpu(np.ones(1)))

    class Liar(Holder):
        def __dlpack__(self, **arguments):
            return 7

    with pytest.raises(TypeError, match="no capsule"):
        ci.from_dlpack(Liar(np.ones(1)))

    class Twice(Holder):
        capsule = None

        def __dlpack__(self, **arguments):
            Twice.capsule = Twice.capsule or self.array.__dlpack__(**arguments)
            return Twice.capsule

    holder = Twice(np.ones(1))
    ci.from_dlpack(holder)
    with pytest.raises(TypeError, match="taken already"):
        ci.from_dlpack(holder)


def test_a_tensor_is_written_alone():
    array = np.arange(3)
    x = ci.from_dlpack(array)
    y = x
    x += 10
    assert x is y and x.tolist() == [10, 11, 12] and array.tolist() == [0, 1, 2]
    view = x[1:]
    x *= 2
    assert view.tolist() == [11, 12]
    # What NumPy holds stays as it is.
    seen = np.asarray(x)
    x -= 1
    assert seen.tolist() == [20, 22, 24]


# Operators and promotion.


def test_scalars_do_not_widen_their_category():
    x = ci.tensor([1, 2], dtype="uint8")
    for y, dtype in [(x + 1, "uint8"), (1 + x, "uint8"), (x + 0.5, "float32"), (x / 2, "float32"), (x * 1j, "complex64"), (x > 1, "bool")]:
        assert str(y.dtype) == dtype
    half = ci.tensor([1.0], dtype="float16")
    assert (half * 2.5).dtype == ci.float16 and (half + x.to("int64")).dtype == ci.float16
    # A tensor without axes counts as a number does; one of a higher category does not.
    assert (half + ci.tensor(1.0, dtype="float64")).dtype == ci.float16
    assert (x + ci.tensor(1.0, dtype="float64")).dtype == ci.float64


def test_operators_are_those_of_numpy_where_both_have_a_rule():
    a, b = np.array([[7, -3], [2, 5]]), np.array([2, 3])
    x = ci.tensor(a)
    for operator in ["__add__", "__sub__", "__mul__", "__floordiv__", "__mod__", "__and__", "__or__", "__xor__", "__lt__", "__ge__", "__eq__", "__ne__"]:
        same(getattr(x, operator)(ci.tensor(b)), getattr(a, operator)(b))
        # Arrays are operands, on either side.
        same(getattr(x, operator)(b), getattr(a, operator)(b))
    same(b - x, b - a)
    same(b @ x, b @ a)
    same(x @ b, a @ b)
    same(2 - x, 2 - a)
    same(x**2, a**2)
    same(-x, -a)
    same(abs(x), abs(a))
    same(~x, ~a)
    same(x << 1, a << 1)
    same(2.0 ** ci.tensor([1.0, 3.0], dtype="float64"), 2.0 ** np.array([1.0, 3.0]))
    assert isinstance(b + x, ci.AnyTensor) and isinstance(np.float32(1) + x, ci.AnyTensor)
    with pytest.raises(TypeError):
        x + "text"
    with pytest.raises(TypeError):
        pow(x, 2, 3)
    with pytest.raises(ValueError, match="broadcast"):
        x + np.ones(3)
    with pytest.raises(ZeroDivisionError):
        x // 0


def test_promotion_of_two_tensors_is_numpys_but_for_integers_beside_small_floats():
    for a, b in itertools.product(NUMPY_DTYPES, repeat=2):
        x, y = ci.tensor([1], dtype=a), ci.tensor([1], dtype=b)
        found = str((x * y).dtype)
        assert found == str(ci.promote_types(a, b)) == str((y * x).dtype)
        kinds = {np.dtype(a).kind in "fc", np.dtype(b).kind in "fc"}
        # PyTorch keeps the float's size beside integers, and a complex number's beside small floats.
        if kinds == {False} or a == b:
            assert found == str(np.promote_types(a, b)), (a, b)
    assert ci.promote_types("int64", "float16") == ci.float16 and np.promote_types("int64", "float16") == "float64"


def test_in_place_keeps_the_dtype_or_is_refused():
    x = ci.tensor([1, 2, 3])
    x += 1
    x -= np.array([1, 1, 1])
    assert x.tolist() == [1, 2, 3] and x.dtype == ci.int64
    with pytest.raises(TypeError, match="can't be cast to the desired output type"):
        x += 0.5
    with pytest.raises(TypeError, match="can't be cast"):
        x /= 2
    assert x.tolist() == [1, 2, 3]
    x += x
    assert x.tolist() == [2, 4, 6]
    y = ci.tensor([1.5, 2.5])
    y *= 2
    y /= ci.tensor([1, 2])
    assert y.tolist() == [3.0, 2.5]
    with pytest.raises(TypeError):
        y += "text"
    with pytest.raises(ValueError):
        y += ci.tensor([[1.0], [2.0]])


# Operations by name.


def test_every_operation_is_called_by_its_name():
    x = ci.tensor([[1.0, 2.0], [3.0, 5.0]])
    a = np.asarray(x)
    same(x.sum(1), a.sum(1))
    same(x.amax(dim=0, keepdim=True), a.max(0, keepdims=True))
    assert x.sum(dim=0, dtype="float64").dtype == ci.float64
    np.testing.assert_allclose(np.asarray(ci.softmax(x, -1)).sum(-1), [1, 1], rtol=1e-6)
    assert ci.cat([x, x], 1).shape == (2, 4)
    same(ci.where(x > 2, x, 0.0), np.where(a > 2, a, np.float32(0)))
    assert len(ci.ops()) > 500 and "softmax" in ci.ops()
    with pytest.raises(AttributeError, match="no operation `softmaks`"):
        x.softmaks
    with pytest.raises(ValueError):
        x.sum(dim=7)
    with pytest.raises(TypeError):
        x.sum(dim=object())
    with pytest.raises(TypeError):
        ci.tensor([1, 2]).mean()


@pytest.mark.skipif("linalg.svd" not in ci.ops(), reason="built without the feature `linalg`")
def test_names_have_parts():
    a = np.array([[1.0, 2.0], [3.0, 5.0]])
    u, s, vh = ci.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(np.asarray(u) * np.asarray(s) @ np.asarray(vh), a, rtol=1e-12)
    with pytest.raises(AttributeError, match="no operation `linalg.nothing`"):
        ci.linalg.nothing


def test_indices_are_those_of_numpy():
    a = np.arange(24).reshape(2, 3, 4)
    x = ci.tensor(a)
    indices = [0, (slice(None), 1), (..., -1), (None, 1), (slice(None), [2, 0]), (1, slice(1, None), slice(None, None, 2))]
    for index in indices:
        same(x[index], a[index])
    same(x[x > 10], a[a > 10])
    same(x[a > 10], a[a > 10])
    assert x[1].shares_storage(x)
    with pytest.raises(IndexError):
        x[2]
    deep = 0
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        x[deep]


def test_results_never_see_an_array_change():
    array = np.arange(4.0)
    transposed = ci.reshape(array, [2, 2])
    total = ci.tensor([1.0], dtype="float64") + array
    array[:] = 0
    assert transposed.tolist() == [[0.0, 1.0], [2.0, 3.0]] and total.tolist() == [1.0, 2.0, 3.0, 4.0]


# PyTorch.


try:
    import torch
except ImportError:
    torch = None

with_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@with_torch
@pytest.mark.parametrize("name", NUMPY_DTYPES + ["bfloat16"])
def test_torch_shares_memory(name):
    given = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, name)).T
    x = ci.from_dlpack(given)
    assert (str(x.dtype), x.shape, x.stride) == (name, tuple(given.shape), given.stride() if name != "bool" else x.stride)
    back = torch.from_dlpack(x)
    assert torch.equal(back, given) and back.dtype == given.dtype
    assert ci.tensor([1], dtype=getattr(torch, name)).dtype == x.dtype


@with_torch
def test_promotion_is_torchs():
    for a, b in itertools.product(NUMPY_DTYPES + ["bfloat16"], repeat=2):
        expected = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert f"torch.{ci.promote_types(a, b)}" == str(expected)
        x, y = torch.ones(2).to(getattr(torch, a)), torch.ones(()).to(getattr(torch, b))
        assert f"torch.{(ci.from_dlpack(x) * ci.from_dlpack(y)).dtype}" == str((x * y).dtype)
