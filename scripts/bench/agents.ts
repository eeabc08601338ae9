/**
 * Many agent sessions in one process, for the memory scenario: node agents.ts SERVER_URL COUNT, token in CULVERT_TOKEN.
 * Prints "online COUNT SECONDS" when all are welcomed. On SIGUSR2 each claims a tunnel, until all have or the quota of the
 * organization ends it; then "bound COUNT SECONDS".
 * Uses the agent's own connector, so that the sessions are what a real agent has.
 */
import type { ChannelSink } from '../../src/agent/connect/channel.ts';
import { makeConnector } from '../../src/agent/connect/connect.ts';
import { silentLog } from '../../src/base/log.ts';
import { type FromAgent, type FromServer, WIRE_VERSION } from '../../src/wire/messages.ts';

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
const claims: (() => Promise<boolean>)[] = [];

await inTime('online', async () => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < count) claims.push(await openSession());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return claims.length;
});
process.once('SIGUSR2', () => void inTime('bound', claimAll));

async function inTime(word: string, action: () => Promise<number>): Promise<void> {
  const start = performance.now();
  const done = await action();
  process.stdout.write(`${word} ${done} ${((performance.now() - start) / 1e3).toFixed(2)}\n`);
}

async function claimAll(): Promise<number> {
  let bound = 0;
  while (bound < claims.length && (await claims[bound]?.()) === true) bound++;
  return bound;
}

/**
 * Opens one session and gives the function that claims a tunnel on it, which tells whether there was room for one. Whatever
 * else goes wrong ends the program.
 */
async function openSession(): Promise<() => Promise<boolean>> {
  let answer = Promise.withResolvers<FromServer>();
  const sink: ChannelSink = {
    onMessage: (message) => answer.resolve(message),
    onClosed: (cause) => fail(cause),
    onIdle: () => undefined,
    targetOf: () => undefined,
    takerOf: () => undefined,
    onTarget: () => undefined,
    onAdvice: () => undefined,
  };
  const channel = await connector.open(sink, new AbortController().signal);
  const ask = (message: FromAgent): Promise<FromServer> => {
    answer = Promise.withResolvers<FromServer>();
    channel.send(message);
    return answer.promise;
  };
  const agent = { version: 'bench', os: process.platform, hostname: 'bench' };
  const welcome = await ask({ type: 'hello', version: WIRE_VERSION, token: token ?? '', agent });
  if (welcome.type !== 'welcome') fail(JSON.stringify(welcome));
  return async () => {
    const bound = await ask({ type: 'claim', ref: 1, protocol: 'http', target: 'bench', localPort: 9 });
    if (bound.type === 'refused' && bound.code === 'quota_exceeded') return false;
    if (bound.type !== 'bound') fail(JSON.stringify(bound));
    return true;
  };
}

function fail(cause: string): never {
  process.stderr.write(`agents: ${cause}\n`);
  process.exit(1);
}
