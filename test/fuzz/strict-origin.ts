/** A service that reads HTTP/1.1 strictly (reference.ts) and remembers what came. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Scope } from '../../src/data/edge/testing/rig.ts';
import { readRequest, valuesOf } from './reference.ts';

export interface StrictOrigin {
  readonly port: number;
  /** Method, target and body of each request. */
  readonly seen: string[];
  /** Names of all fields so far. */
  readonly names: ReadonlySet<string>;
  /** What it could not read, and what a request claims that only the edge may say. */
  readonly faults: string[];
}

/** Closed when the test is over. */
export async function strictOrigin(t: Scope): Promise<StrictOrigin> {
  const [seen, faults]: [string[], string[]] = [[], []];
  const names = new Set<string>();
  const server = createServer({ noDelay: true }, (socket) => {
    let [text, from] = ['', 0];
    socket.on('error', () => {}); // the edge resets what is out of step: that is its right
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      for (;;) {
        const reading = readRequest(text, from);
        if (reading === 'more') return;
        if ('bad' in reading) {
          faults.push(`${reading.bad}: ${JSON.stringify(text.slice(from))}`);
          return;
        }
        from = reading.next;
        seen.push(`${reading.first} ${reading.second} ${reading.body}`);
        for (const [name] of reading.fields) names.add(name);
        const claims = valuesOf(reading, 'x-forwarded-for');
        if (claims.join() !== '127.0.0.1') faults.push(`it claims to come from ${claims.join()}`);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return { port: (server.address() as AddressInfo).port, seen, names, faults };
}
