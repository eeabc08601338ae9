/** What a visitor sends must not end the agent's process. */
import assert from 'node:assert/strict';
import { connect, type ClientHttp2Stream } from 'node:http2';
import { test } from 'node:test';
import { Head } from '../../http1/head.ts';
import { parseTarget } from '../local/target.ts';
import { Http1Socket } from './http1-socket.ts';
import type { ServiceConnection } from './connection.ts';
import { Http2Service } from './service.ts';
import type { StreamSource } from './source.ts';
import { http2Origin } from './testing.ts';

test('trailers that this version of Node does not send end the request alone', { timeout: 60_000 }, async (t) => {
  const origin = await http2Origin(t, (stream) => stream.resume());
  const session = connect(`http://127.0.0.1:${origin.port}`);
  t.after(() => session.destroy());
  const refusing = (stream: ClientHttp2Stream): ClientHttp2Stream =>
    Object.assign(stream, {
      sendTrailers: () => {
        throw new TypeError('ERR_HTTP2_HEADER_SINGLE_VALUE');
      },
    });
  const connection = {
    bytesRead: 0,
    isLost: false,
    isOpen: true,
    suspect: () => undefined,
    release: () => undefined,
    request: (_fields: readonly string[], options: object) =>
      refusing(session.request({ ':method': 'POST', ':path': '/' }, options)),
  } as unknown as ServiceConnection;
  const source: StreamSource = {
    scheme: 'http',
    head: new Head(),
    mayTryHttp1: false,
    take: ({ onConnection }) => {
      onConnection(connection);
      return () => undefined;
    },
    dialHttp1: () => () => undefined,
  };
  const socket = new Http1Socket(source);
  const code = await new Promise<number>((resolve) => {
    socket.peer = { resetCode: 0, reset: resolve };
    const head = 'POST / HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${head}1\r\nx\r\n0\r\nETag: a\r\nETag: b\r\n\r\n`);
  });
  assert.equal(code, 1);
});

test('heads without end in front of a response are not kept for a visitor that takes none', {
  timeout: 60_000,
}, async (t) => {
  let sent = 0;
  const origin = await http2Origin(t, (stream) => {
    const more = (): void => {
      for (let i = 0; i < 20 && !stream.closed && sent < 2_000; i++, sent++)
        stream.additionalHeaders({ ':status': 103, link: 'x'.repeat(2_000) });
      if (!stream.closed && sent < 2_000) setTimeout(more, 1);
    };
    more();
  });
  const service = new Http2Service(parseTarget(`127.0.0.1:${origin.port}`, 'http').target, 'http2');
  t.after(() => service.close());
  const socket = new Http1Socket(service);
  const code = await new Promise<number>((resolve) => {
    socket.peer = { resetCode: 0, reset: resolve };
    socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
  });
  assert.equal(code, 11);
  assert.ok(sent < 1_000, `${sent} heads`);
});
