/** Which HTTP/2 engine of the edge these tests run against. One constant switches all of them. */

/** `node`: node:http2 (nghttp2). `own`: src/http2. */
export type Engine = 'node' | 'own';

export const ENGINE: Engine = 'node';

/** What `RigOptions.http2` says for an engine. */
export const SETTING: Readonly<Record<Engine, Engine>> = { node: 'node', own: 'own' };
