/**
 * Visitors in a process of their own, so that they can stand in the server's namespace: asks each name again and again and prints a line
 * of JSON whenever the answer changes, `{at, host, status}`; status 0 is no answer. Started by watch.ts.
 *
 *   node prober.ts PORT HOST…
 */
import { request } from 'node:http';

const EVERY_MS = 50;
/** A visitor of a tunnel whose agent is unreachable gives up after this long. */
const PATIENCE_MS = 1_000;

function ask(port: number, host: string): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, headers: { host }, agent: false });
    const timer = setTimeout(() => outgoing.destroy(new Error('too late')), PATIENCE_MS);
    outgoing.on('close', () => clearTimeout(timer));
    // No answer is an answer here: the server may just be dead.
    outgoing.on('error', () => resolve(0));
    outgoing.on('response', (response) => {
      response.resume();
      response.on('error', () => resolve(0));
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.end();
  });
}

async function watch(port: number, host: string): Promise<never> {
  let last = -1;
  for (;;) {
    const status = await ask(port, host);
    if (status !== last) console.log(JSON.stringify({ at: Date.now(), host, status }));
    last = status;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

const [port, ...hosts] = process.argv.slice(2);
await Promise.all(hosts.map((host) => watch(Number(port), host)));
