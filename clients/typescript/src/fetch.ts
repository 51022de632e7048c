/**
 * `fetch`, but streams end with their signal. Node.js forgets the signal of a request as soon as nobody else holds the
 * request, after the next garbage collection: a stream that was left would go on for ever.
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
