/**
 * A Culvert server for a trial: settings file, first start, log-in and a key for an agent, all as an operator would do it by hand.
 * Used by quickstart.ts and by the test of the built executable.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import { type Launch, Program } from './program.ts';

export interface TrialServer {
  readonly program: Program;
  readonly apiUrl: string;
  readonly email: string;
  readonly password: string;
  /** Port of the public HTTP edge on 127.0.0.1. */
  readonly httpPort: number;
  /** The settings file that it runs on. */
  readonly configFile: string;
}

/** Another program may take a port between the look at it and the start. */
const STARTS = 3;

/** Starts `culvert serve` with its data in `folder` and reads the password of its first start. Takes the usual ports where they are free. */
export async function startTrialServer(folder: string, launch: Omit<Launch, 'args'>): Promise<TrialServer> {
  for (let start = 1; ; start++) {
    try {
      return await startOnce(folder, start === 1 ? 'data' : `data-${start}`, launch);
    } catch (error) {
      if (start === STARTS || !messageOf(error).includes('is in use by another program')) throw error;
    }
  }
}

async function startOnce(folder: string, data: string, launch: Omit<Launch, 'args'>): Promise<TrialServer> {
  const [api, http, agents] = [await freePort(9090), await freePort(8080), await freePort(7443)];
  const configFile = join(folder, 'server.toml');
  writeFileSync(
    configFile,
    `# A demo on this machine. All other settings have their defaults: see config.example.toml.
data_dir = ${JSON.stringify(join(folder, data))}
api.listen = "127.0.0.1:${api}"
edge.http_listen = "127.0.0.1:${http}"
agents.listen = "127.0.0.1:${agents}"
`,
  );
  const program = new Program({ ...launch, args: ['serve', '--config', configFile] });
  try {
    const password = await program.printed(/^admin@localhost\n(\S+)$/m);
    return {
      program,
      apiUrl: `http://127.0.0.1:${api}`,
      email: 'admin@localhost',
      password,
      httpPort: http,
      configFile,
    };
  } catch (error) {
    program.kill();
    throw error;
  }
}

/** A key that may open tunnels: log-in, then `POST /tokens`. */
export async function mintKey({ apiUrl, email, password }: TrialServer): Promise<string> {
  const { access_token } = await post(`${apiUrl}/auth/login`, { email, password });
  const { apiKey } = await post(`${apiUrl}/tokens`, { name: 'quickstart' }, String(access_token));
  return String(apiKey);
}

async function post(url: string, body: object, bearer?: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (!response.ok || typeof answer !== 'object' || answer === null) {
    throw new Error(`POST ${url} answered ${response.status}: ${JSON.stringify(answer)}`);
  }
  return { ...answer };
}

/** `wanted` if it is free, else any free port. */
async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return undefined; // taken: the caller asks for another
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address === null || typeof address === 'string' ? undefined : address.port;
}
