/** Which HTTP/2 engine of the edge these tests run against. One constant switches all of them. */
import type { Http2Engine } from '../../src/data/node-settings.ts';

/** `node`: node:http2 (nghttp2). `own`: src/http2. */
export type Engine = Http2Engine;

export const ENGINE: Engine = 'own';
