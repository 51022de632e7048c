/**
 * `fetch`, with streams that end when their signal is aborted. Node.js drops the signal when the
 * request is garbage collected, so an abandoned stream would never end.
 */
export const abortableFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const signal = init?.signal;
  const kind = response.headers.get("Content-Type") ?? "";
  if (!signal || !response.body || !/^application\/(connect\+|grpc-web)/.test(kind)) {
    return response;
  }
  const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
  return new Response(body, response);
};
