/**
 * Storms of tokens at a tunnel with a JWT policy, whose owner chooses the keys: the most expensive key that is accepted, and an absurd one. Signatures
 * are random bytes, which cost as much to refuse as good ones to accept. All differ, because verified tokens may be cached.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringIn, tunnelId } from '../api.ts';
import { startAgent } from '../culvert.ts';
import type { Storm } from './storm.ts';
import { visit, WARM_SECONDS } from './visitors.ts';
import type { World } from './world.ts';

const AGENT = 'agent-gated';
const SUBDOMAIN = 'gated';
const MODULUS_BITS = 4_096;
/** The longest exponent that is accepted. */
const EXPONENT = Buffer.from('fffffffb', 'hex');
const ABSURD_BITS = 1_536;
const TOKENS = 1_000;
/** 1,000 tokens a second, at about 0.2 ms each a fifth of a processor. A flood would measure the requests and not the keys. */
const CONNECTIONS = 100;
const INTERVAL_MS = 100;

export function tokenStorms(world: World): Storm[] {
  const { n } = generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS }).publicKey.export({ format: 'jwk' });
  const key = (e: Buffer) => ({ kty: 'RSA', kid: 'bench', n, e: e.toString('base64url') });
  const absurd = randomBytes(ABSURD_BITS / 8);
  absurd[0] = 0xff;
  absurd[absurd.length - 1] = 0xff;
  const rate = `${CONNECTIONS * (1_000 / INTERVAL_MS)} tokens a second`;
  return [
    {
      ...storm(world, key(EXPONENT)),
      name: 'jwt-keys',
      title: `${rate} for the longest RSA key that is accepted: ${MODULUS_BITS} bits, an exponent of 32`,
    },
    {
      ...storm(world, key(absurd)),
      name: 'jwt-absurd',
      title: `${rate} for an RSA key whose exponent has ${ABSURD_BITS} bits`,
    },
  ];
}

function storm(world: World, key: object): Pick<Storm, 'prepare' | 'run' | 'finish'> {
  const { bench, server } = world;
  const { processes } = bench;
  const fieldsFile = join(processes.folder, 'tokens');
  let issuer: Server | undefined;
  return {
    prepare: async () => {
      issuer = await serveKeys({ keys: [key] });
      const { port } = issuer.address() as AddressInfo;
      const owner = await world.logIn();
      const input = { name: 'gated', tunnelQuota: 10, bandwidthLimitMbps: 10_000 };
      const token = stringIn(await owner.call('POST', '/tokens', input), 'apiKey');
      await startAgent(processes, server, { originPort: world.originPort, name: AGENT, subdomain: SUBDOMAIN, token });
      const action = { kind: 'jwt_validation', jwks_url: `http://127.0.0.1:${port}/` };
      await owner.call('PUT', `/tunnels/${await tunnelId(owner, SUBDOMAIN)}/policy`, { actions: [action] });
      writeFileSync(fieldsFile, `${makeTokens().join('\n')}\n`);
    },
    run: async (seconds) => {
      const crowd = { port: server.httpPort, host: `${SUBDOMAIN}.localhost`, fieldsFile };
      const pace = { connections: CONNECTIONS, intervalMs: INTERVAL_MS, seconds: seconds - WARM_SECONDS };
      const { statuses } = await visit(bench, { ...crowd, ...pace }, { elsewhere: false });
      return statuses;
    },
    finish: async () => {
      await processes.stop(AGENT);
      issuer?.close();
    },
  };
}

async function serveKeys(set: object): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(set));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Header lines. */
function makeTokens(): string[] {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ alg: 'PS512', kid: 'bench', typ: 'JWT' });
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return Array.from({ length: TOKENS }, (_, i) => {
    const signature = randomBytes(MODULUS_BITS / 8);
    // Below the modulus, or it is refused before anything is computed.
    signature[0] = 0;
    return `Authorization: Bearer ${head}.${part({ sub: `visitor-${i}`, exp })}.${signature.toString('base64url')}`;
  });
}
