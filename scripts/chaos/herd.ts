/**
 * Many agents in one process, a tunnel each, as they all lose one server and come back: `node herd.ts SERVER COUNT [PORT]`, the key in CULVERT_TOKEN.
 * Prints a line of JSON, `{at, online}`, whenever the number of live tunnels has changed for a tenth of a second. Started by scenarios.ts.
 */
import { networkInterfaces } from 'node:os';
import { startAgent } from '../../src/agent/agent.ts';
import { makeConnector } from '../../src/agent/connect/connect.ts';
import { parseTarget } from '../../src/agent/local/target.ts';
import { silentLog } from '../../src/base/log.ts';

const EVERY_MS = 100;
/** Each agent looks at the interfaces once a second, on a computer of its own: here one look does for all of them. */
const LOOK_MS = 1_000;

/** Nothing listens on the port that is taken without one. */
const [server = '', count = '', port = '9'] = process.argv.slice(2);
const token = process.env['CULVERT_TOKEN'] ?? '';
const connector = makeConnector({ server: new URL(server), log: silentLog });
let online = 0;
let looked: { readonly at: number; readonly addresses: string[] } | undefined;

function addresses(): string[] {
  if (looked === undefined || performance.now() - looked.at >= LOOK_MS) {
    const external = Object.values(networkInterfaces()).flatMap(
      (all) => all?.filter(({ internal }) => !internal) ?? [],
    );
    looked = { at: performance.now(), addresses: external.map(({ address }) => address) };
  }
  return looked.addresses;
}

for (let number = 1; number <= Number(count); number++) {
  const agent = startAgent({
    server,
    tunnels: [{ ...parseTarget(port, 'http'), name: 'herd', subdomain: `herd${number}` }],
    identity: { version: 'chaos', os: process.platform, hostname: `herd${number}` },
    token: async () => token,
    open: connector.open,
    reach: connector.reach,
    tryAnother: connector.tryAnother,
    addresses,
    log: silentLog,
    onEvent: (event) => {
      if (event.kind === 'tunnel_online') online++;
      if (event.kind === 'tunnel_offline') online--;
    },
  });
  void agent.done.then(({ code, message }) => {
    process.stderr.write(`an agent ended with ${code}: ${message}\n`);
    process.exit(1);
  });
}

let told = -1;
setInterval(() => {
  if (online === told) return;
  told = online;
  console.log(JSON.stringify({ at: Date.now(), online }));
}, EVERY_MS);
