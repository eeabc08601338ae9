/** A private network on a server that is measured: made by the API, with a key of its server and devices. Its relay is `culvert udp`. */
import { ownerOf, stringIn } from './api.ts';
import type { CulvertServer } from './culvert.ts';
import type { Processes } from './processes.ts';

/** Its agents have this name to say. */
const NAME = 'bench';
const CIDR = '10.44.0.0/24';
/** Long enough for the first packets after a start on a bad link. */
const ONLINE_MS = 30_000;

export interface PrivateNetwork {
  readonly id: string;
  /** Where clients speak to. */
  readonly publicPort: number;
  /** Renders the configuration of the network's server. */
  serverConfig(): Promise<string>;
  /** Enrols a device and renders its configuration. */
  enrol(name: string, publicKey: string): Promise<string>;
}

/** Makes the network on a server that is still on loopback. */
export async function makePrivateNetwork(
  server: CulvertServer,
  { publicKey, listenPort }: { readonly publicKey: string; readonly listenPort: number },
): Promise<PrivateNetwork> {
  const owner = await ownerOf(server);
  const id = stringIn(await owner.call('POST', '/private-networks', { name: NAME, cidr: CIDR }), 'id');
  const path = `/private-networks/${id}`;
  const set = { server_public_key: publicKey, server_listen_port: listenPort };
  const endpoint = stringIn(await owner.call('PUT', `${path}/server`, set), 'public_endpoint');
  return {
    id,
    publicPort: Number(endpoint.slice(endpoint.lastIndexOf(':') + 1)),
    serverConfig: async () => stringIn(await owner.call('GET', `${path}/server-config`), 'config'),
    enrol: async (name, key) => {
      const answer = await owner.call('POST', `${path}/devices`, { name, public_key: key });
      const device: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'device') : undefined;
      return stringIn(await owner.call('GET', `${path}/devices/${stringIn(device, 'id')}/config`), 'config');
    },
  };
}

/** Starts `culvert udp` for the network; resolves when it carries datagrams. */
export async function startRelayAgent(
  processes: Processes,
  server: CulvertServer,
  options: {
    readonly name: string;
    readonly localPort: number;
    /** Datagrams go over the agent's session from the first. */
    readonly stream: boolean;
    readonly netns?: string;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { name, localPort, stream, netns, env } = options;
  processes.start(
    name,
    [
      ...[...server.command, 'udp', String(localPort), '--network', NAME, ...(stream ? ['--no-udp'] : [])],
      ...['--server', `http://${server.address}:${server.apiPort}`, '--json'],
    ],
    { env: { ...env, CULVERT_TOKEN: server.token }, netns },
  );
  await processes.waitForOutput(name, stream ? /"relay_online"/ : /"relay_path".*"path":"udp"/, ONLINE_MS);
}
