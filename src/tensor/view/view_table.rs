//! The views of borrowed tensors, each listed once: `t`, `select`, `split`, …, and mutable ones: `t_mut`, `select_mut`, `split_mut`, …. In
//! mutable ones no two positions alias, nor do the parts of one call.

/// Calls `$with!` with a row in braces for each view: `both` for those that can be mutable and `read` for others, its names, parameters and
/// result (an element and a shape), its conditions, and how it is made from a tensor.
macro_rules! view_table {
    ($with:ident) => {
        $with! {
            { both [t t_mut] [T: Shape] () -> E, T where [S: Reverse<Output = T>] |x| Ok(x.t()) }
            { both [transpose transpose_mut] [const I: isize, const J: isize]
                (first: impl AxisArg<I>, second: impl AxisArg<J>) -> E, <S as Transpose<I, J>>::Output
                where [S: Transpose<I, J> + HasAxis<I> + HasAxis<J>] |x| Ok(x.transpose(first, second)) }
            { both [swapaxes swapaxes_mut] [const I: isize, const J: isize]
                (first: impl AxisArg<I>, second: impl AxisArg<J>) -> E, <S as Transpose<I, J>>::Output
                where [S: Transpose<I, J> + HasAxis<I> + HasAxis<J>] |x| Ok(x.swapaxes(first, second)) }
            { both [mT mT_mut] [] () -> E, <S as Transpose<-2, -1>>::Output
                where [S: Matrices + Transpose<-2, -1> + HasAxis<-2> + HasAxis<-1>] |x| Ok(x.mT()) }
            { both [permute permute_mut] [Order] (order: Order) -> E, <S as Permute<Order>>::Output
                where [S: Permute<Order>] |x| Ok(x.permute(order)) }
            { both [movedim movedim_mut] [const I: isize, const J: isize]
                (from: impl AxisArg<I>, to: impl AxisArg<J>) -> E, <S as MoveAxis<I, J>>::Output
                where [S: MoveAxis<I, J> + HasAxis<I> + HasAxis<J>] |x| Ok(x.movedim(from, to)) }
            { both [squeeze squeeze_mut] [T: Shape] () -> E, T
                where [S: Squeeze<Output = T>] |x| Ok(x.squeeze()) }
            { both [squeeze_axis squeeze_axis_mut] [const I: isize] (axis: impl AxisArg<I>)
                -> E, <S as SqueezeAxis<I>>::Output where [S: SqueezeAxis<I> + HasAxis<I>] |x| Ok(x.squeeze_axis(axis)) }
            { both [squeeze_axes squeeze_axes_mut] [A: Axes<S>, T: Shape] (axes: A) -> E, T
                where [S: SqueezeAxes<A, Output = T>] |x| Ok(x.squeeze_axes(axes)) }
            { both [unsqueeze unsqueeze_mut] [const I: isize] (axis: impl AxisArg<I>)
                -> E, <S as InsertAxis<I>>::Inserted<D1> where [S: InsertAxis<I>] |x| Ok(x.unsqueeze(axis)) }
            { both [select select_mut] [const I: isize] (axis: impl AxisArg<I>, index: impl AxisPosition)
                -> E, <S as HasAxis<I>>::Removed where [S: HasAxis<I>] |x| x.try_select(axis, index) }
            { both [narrow narrow_mut] [const I: isize] (axis: impl AxisArg<I>, start: usize, len: usize)
                -> E, <S as HasAxis<I>>::Replace<Dyn> where [S: HasAxis<I>] |x| x.try_narrow(axis, start, len) }
            { both [slice slice_mut] [I: Items, T: Shape] (items: I) -> E, T
                where [S: Slice<I, Output = T>] |x| x.try_slice(items) }
            { both [diagonal diagonal_mut] [const I: isize, const J: isize]
                (plane: DistinctAxes<(Axis<I>, Axis<J>)>) -> E, <S as MainDiagonals<I, J>>::Output
                where [S: MainDiagonals<I, J> + HasAxis<I> + HasAxis<J>] |x| Ok(x.diagonal(plane)) }
            { both [diagonal_at diagonal_at_mut] [const I: isize, const J: isize]
                (plane: DistinctAxes<(Axis<I>, Axis<J>)>, offset: isize) -> E, <S as Diagonals<I, J>>::Of<Dyn>
                where [S: Diagonals<I, J> + HasAxis<I> + HasAxis<J>] |x| Ok(x.diagonal_at(plane, offset)) }
            { both [view reshape_mut] [T: Inferable] () -> E, T
                where [S: ReshapeTo<T>] |x| x.try_view::<T>() }
            { both [view_sized reshape_sized_mut] [T: Shape] (sizes: T::Sizes) -> E, T
                where [S: ReshapeTo<T>] |x| x.try_view_sized::<T>(sizes) }
            { both [real real_mut] [O: Dtype] () -> O, S where [E: Dtype<RealDtype = O>] |x| Ok(x.real()) }
            { both [imag imag_mut] [O: Dtype] () -> O, S
                where [E: ComplexFor<ops::reduce::imag> + Dtype<RealDtype = O>] |x| Ok(x.imag()) }
            { both [view_as_real view_as_real_mut] [O: Dtype] ()
                -> O, <S as InsertAxis<-1>>::Inserted<D2>
                where [E: ComplexFor<ops::reduce::view_as_real> + Dtype<RealDtype = O>, S: InsertAxis<-1>] |x| x.try_view_as_real() }
            { both [view_as_complex view_as_complex_mut] [] ()
                -> E::Complex, <S as HasAxis<-1>>::Removed
                where [
                    E: PartFor<ops::reduce::view_as_complex>,
                    S: Dimensional,
                    <S as HasAxis<-1>>::Dim: RealAndImaginary,
                ] |x| x.try_view_as_complex() }
            { read [reshape] [T: Inferable] () -> E, T where [S: ReshapeTo<T>] |x| x.try_reshape::<T>() }
            { read [reshape_sized] [T: Shape] (sizes: T::Sizes) -> E, T
                where [S: ReshapeTo<T>] |x| x.try_reshape_sized::<T>(sizes) }
            { read [expand] [T: KnownShape] () -> E, T where [S: ExpandTo<T>] |x| x.try_expand::<T>() }
            { read [expand_sized] [T: Shape] (sizes: T::Sizes) -> E, T
                where [S: ExpandTo<T>] |x| x.try_expand_sized::<T>(sizes) }
            { read [expand_as] [F: Element, T: Shape, X: Device] (other: &Tensor<F, T, X>) -> E, T
                where [S: ExpandTo<T>] |x| x.try_expand_as(other) }
            { read [flatten] [] () -> E, (S::Numel,) where [] |x| x.try_flatten() }
            { read [flatten_axes] [const I: isize, const J: isize] (first: impl AxisArg<I>, last: impl AxisArg<J>)
                -> E, <S as Flatten<I, J>>::Output where [S: Flatten<I, J> + HasAxis<I> + HasAxis<J>]
                |x| Ok(x.flatten_axes(first, last)) }
            { read [unflatten] [T: KnownShape, const I: isize] (axis: impl AxisArg<I>) -> E, <S as Unflatten<I, T>>::Output
                where [S: Unflatten<I, T> + HasAxis<I>] |x| x.try_unflatten::<T, I>(axis) }
            { read [unfold] [Size: Known, Step: Known, const I: isize] (axis: impl AxisArg<I>)
                -> E, <S as Windows<I, Size, Step>>::Output
                where [S: Dimensional + Windows<I, Size, Step> + HasAxis<I>] |x| x.try_unfold::<Size, Step, I>(axis) }
            { read [unfold_sized] [const I: isize] (axis: impl AxisArg<I>, size: usize, step: usize)
                -> E, <<S as HasAxis<I>>::Replace<Dyn> as InsertAxis<-1>>::Inserted<Dyn>
                where [S: Dimensional + HasAxis<I>, <S as HasAxis<I>>::Replace<Dyn>: InsertAxis<-1>]
                |x| x.try_unfold_sized(axis, size, step) }
            { read [view_as] [F: Element, T: Shape, X: Device] (other: &Tensor<F, T, X>) -> E, T
                where [S: ReshapeTo<T>] |x| x.try_view_as(other) }
            { read [as_strided] [T: KnownShape] (strides: T::Sizes, storage_offset: Option<usize>) -> E, T
                where [] |x| x.try_as_strided::<T>(strides, storage_offset) }
            { read [as_strided_sized] [T: Shape]
                (sizes: T::Sizes, strides: T::Sizes, storage_offset: Option<usize>) -> E, T
                where [] |x| x.try_as_strided_sized::<T>(sizes, strides, storage_offset) }
            { read [view_dtype] [F: Element] () -> F, <S as ViewedAs<E, F>>::Output
                where [S: ViewedAs<E, F>] |x| x.try_view_dtype::<F>() }
        }
    };
}

/// [`view_table`] for views that come several at once: `vec` or an `array` of `N`, of one shape.
macro_rules! parts_table {
    ($with:ident) => {
        $with! {
            { vec [split split_mut] [const I: isize] (axis: impl AxisArg<I>, size: usize)
                -> <S as HasAxis<I>>::Replace<Dyn> where [S: Dimensional + HasAxis<I>] |x| x.try_split(axis, size) }
            { vec [split_sizes split_sizes_mut] [const I: isize]
                (axis: impl AxisArg<I>, sizes: &[usize]) -> <S as HasAxis<I>>::Replace<Dyn>
                where [S: Dimensional + HasAxis<I>] |x| x.try_split_sizes(axis, sizes) }
            { vec [chunk chunk_mut] [const I: isize] (axis: impl AxisArg<I>, chunks: usize)
                -> <S as HasAxis<I>>::Replace<Dyn> where [S: Dimensional + HasAxis<I>] |x| x.try_chunk(axis, chunks) }
            { vec [tensor_split tensor_split_mut] [const I: isize]
                (axis: impl AxisArg<I>, sections: usize) -> <S as HasAxis<I>>::Replace<Dyn>
                where [S: Dimensional + HasAxis<I>] |x| x.try_tensor_split(axis, sections) }
            { vec [unbind unbind_mut] [const I: isize] (axis: impl AxisArg<I>)
                -> <S as HasAxis<I>>::Removed where [S: Dimensional + HasAxis<I>] |x| x.try_unbind(axis) }
            { array [chunk_array chunk_array_mut] [const N: usize, const I: isize]
                (axis: impl AxisArg<I>) -> <S as CutEqually<I, N>>::Output
                where [S: Dimensional + CutEqually<I, N> + HasAxis<I>] |x| x.try_chunk_array::<N, I>(axis) }
            { array [unbind_array unbind_array_mut] [const N: usize, const I: isize]
                (axis: impl AxisArg<I>) -> <S as Unbind<I, N>>::Output
                where [S: Dimensional + Unbind<I, N> + HasAxis<I>] |x| x.try_unbind_array::<N, I>(axis) }
        }
    };
}

pub(crate) use {parts_table, view_table};
