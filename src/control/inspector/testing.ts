/** A recorded request for tests: a small one, with what the test changes. */
import { randomBytes } from 'node:crypto';
import type { InspectedRequest, Trace } from '../../plane/inspection.ts';

type Changes = Partial<Omit<InspectedRequest, 'trace'>> & { readonly trace?: Partial<Trace> };

/** Lines of a head, without the empty one at its end. */
export function head(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Goes up: of two records at the same instant the later one has the larger id. */
let made = 0;

/** A UUIDv7 of this instant, as a node makes them. */
function idAt(ms: number): string {
  made += 1;
  const time = ms.toString(16).padStart(12, '0');
  const count = made.toString(16).padStart(6, '0');
  const rest = randomBytes(6).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}-${rest}`;
}

export function recorded({ trace, ...changes }: Changes = {}): InspectedRequest {
  const {
    at = Date.UTC(2026, 10, 21),
    method = 'GET',
    target = '/',
    requestBody = Buffer.alloc(0),
    responseBody = Buffer.from('ok'),
  } = changes;
  return {
    id: idAt(at),
    tunnelId: '00000000-0000-7000-8000-000000000001',
    orgId: '00000000-0000-7000-8000-000000000002',
    at,
    method,
    target,
    status: 200,
    latencyMs: 12.5,
    requestSize: requestBody.length,
    responseSize: responseBody.length,
    remoteIp: '203.0.113.7',
    requestHead: head(`${method} ${target} HTTP/1.1`, 'Host: shop.example.test'),
    responseHead: head('HTTP/1.1 200 OK', 'Content-Type: text/plain', `Content-Length: ${responseBody.length}`),
    requestBody,
    requestBodyTruncated: false,
    responseBody,
    responseBodyTruncated: false,
    replayOf: null,
    ...changes,
    trace: {
      outcome: 'forwarded',
      code: null,
      host: 'shop.example.test',
      scheme: 'http',
      httpVersion: '1.1',
      steps: [],
      agentId: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      tokenId: '00000000-0000-7000-8000-000000000003',
      connection: 'fresh',
      retried: false,
      policyMs: 0.25,
      firstByteMs: 10,
      ...trace,
    },
  };
}
