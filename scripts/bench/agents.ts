/**
 * Many agent sessions in one process, for the memory scenario: node agents.ts SERVER_URL COUNT, token in CULVERT_TOKEN.
 * Prints "online COUNT SECONDS" when all are welcomed; on SIGUSR2 each claims a tunnel, then "bound COUNT SECONDS".
 * Uses the agent's own connector, so that the sessions are what a real agent has.
 */
import type { ChannelSink } from '../../src/agent/channel.ts';
import { makeConnector } from '../../src/agent/connect.ts';
import { silentLog } from '../../src/base/log.ts';
import { type FromServer, WIRE_VERSION } from '../../src/wire/messages.ts';

/** Handshakes at a time: the server may not be asked for more than a restart of real agents would. */
const AT_ONCE = 16;

const [serverUrl, countText] = process.argv.slice(2);
const token = process.env['CULVERT_TOKEN'];
if (serverUrl === undefined || countText === undefined || token === undefined) {
  process.stderr.write('usage: CULVERT_TOKEN=… node agents.ts SERVER_URL COUNT\n');
  process.exit(2);
}
const count = Number(countText);
const connector = makeConnector({ server: new URL(serverUrl), log: silentLog });
const claims: (() => Promise<void>)[] = [];

await inTime('online', async () => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < count) claims.push(await openSession());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
});
process.once('SIGUSR2', () => void inTime('bound', claimAll));

async function inTime(word: string, action: () => Promise<void>): Promise<void> {
  const start = performance.now();
  await action();
  process.stdout.write(`${word} ${claims.length} ${((performance.now() - start) / 1e3).toFixed(2)}\n`);
}

async function claimAll(): Promise<void> {
  for (const claim of claims) await claim();
}

/** Opens one session and gives the function that claims a tunnel on it. A session that ends early ends the program. */
async function openSession(): Promise<() => Promise<void>> {
  let answer = Promise.withResolvers<FromServer>();
  const sink: ChannelSink = {
    onMessage: (message) => answer.resolve(message),
    onClosed: (cause) => fail(cause),
    onIdle: () => undefined,
    targetOf: () => undefined,
    onTarget: () => undefined,
  };
  const channel = await connector.open(sink, new AbortController().signal);
  const ask = async (message: Parameters<typeof channel.send>[0], expected: FromServer['type']): Promise<void> => {
    answer = Promise.withResolvers<FromServer>();
    channel.send(message);
    const got = await answer.promise;
    if (got.type !== expected) fail(JSON.stringify(got));
  };
  const agent = { version: 'bench', os: process.platform, hostname: 'bench' };
  await ask({ type: 'hello', version: WIRE_VERSION, token: token ?? '', agent }, 'welcome');
  return () => ask({ type: 'claim', ref: 1, protocol: 'http', target: 'bench', localPort: 9 }, 'bound');
}

function fail(cause: string): never {
  process.stderr.write(`agents: ${cause}\n`);
  process.exit(1);
}
