//! Names of operations that look along an axis, for messages.

macro_rules! names {
    ($($name:ident)*) => {$(
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
    )*};
}
names!(narrow select sort argsort softmax log_softmax argmax argmin cumsum cumprod logcumsumexp var std logsumexp layer_norm rms_norm attention
    topk kthvalue mode median quantile glu diff flip roll normalize tril triu linear embedding conv1d conv2d conv3d
    max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d);
