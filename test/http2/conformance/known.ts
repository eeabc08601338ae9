/** Cases that an engine fails, each with what it does instead. A case here must fail: one that is mended is taken off the list. */
import type { Engine } from '../engines.ts';

export const FAILING: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  node: {
    'http2/5.1/8': 'DATA on a stream that the visitor has reset is ignored',
    'http2/5.1/9': 'HEADERS on a stream that the visitor has reset are ignored',
    'http2/5.1/11': 'DATA on a closed stream is ignored',
    'http2/5.1/12': 'HEADERS on a closed stream are ignored',
    'http2/5.1.1/2': 'HEADERS of a lower stream are ignored',
    'http2/5.3.1/2': 'PRIORITY is ignored, whatever it holds',
    'http2/6.3/1': 'PRIORITY is ignored, whatever its stream',
    'http2/6.7/2': 'a PING with ACK that answers none ends the connection with INTERNAL_ERROR',
    'http2/8.1.2.6/1': 'the connection is ended with INTERNAL_ERROR',
    'http2/8.1.2.6/2': 'the connection is ended with INTERNAL_ERROR',
  },
  own: {},
};
