/**
 * A private network of three as its owner sets it up: a server at home behind a NAT, two clients elsewhere, and a Culvert server that all reach. Every
 * key is made with `wg`, every configuration comes from the API, and every packet is WireGuard's own.
 */
import { join } from 'node:path';
import { type ApiPlace, callInside, logInInside } from '../../scripts/wireguard/api.ts';
import { type Keys, makeKeys, Peer, withPrivateKey } from '../../scripts/wireguard/peer.ts';
import { HOME_OUTSIDE, Places, SERVER_ADDRESS } from '../../scripts/wireguard/places.ts';
import { echoes } from '../../scripts/wireguard/traffic.ts';
import { Processes } from '../../scripts/bench/processes.ts';
import type { Program } from '../../scripts/quickstart/program.ts';
import type { Ends } from '../harness/ends.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

const NETWORK = 'office';
const CIDR = '10.44.0.0/24';
const LISTEN_PORT = 51_820;
export const HOME = '10.44.0.1';
export const ANNA = '10.44.0.2';
export const BEN = '10.44.0.3';
export const CARLA = '10.44.0.4';

export interface Device {
  readonly id: string;
  /** Within the network. */
  readonly address: string;
  readonly keys: Keys;
  /** As rendered. */
  readonly config: string;
}

export interface Client extends Device {
  readonly netns: string;
  readonly peer: Peer;
}

/** Places and a server between them. */
export interface Testbed {
  readonly processes: Processes;
  readonly places: Places;
  readonly culvert: SpawnedCulvert;
  /** Its owner's. */
  readonly api: ApiPlace;
}

/** A home behind a NAT, so many clients, and a server that all reach. */
export async function prepareTestbed(t: Ends, clients: number): Promise<Testbed> {
  const processes = new Processes();
  t.after(() => processes.close());
  const places = await Places.make(processes, clients);
  await places.homeBehindNat();
  const culvert = await spawnCulvert(t, {
    address: SERVER_ADDRESS,
    netns: places.hub,
    edge: `udp_host = "${SERVER_ADDRESS}"\ntcp_public_host = "${SERVER_ADDRESS}"`,
  });
  const api = await logInInside(processes, { netns: places.hub, url: culvert.apiUrl }, culvert.password);
  return { processes, places, culvert, api };
}

export class Fixture {
  readonly processes: Processes;
  readonly places: Places;
  readonly culvert: SpawnedCulvert;
  readonly home: Peer;
  readonly homeKeys: Keys;
  readonly #api: ApiPlace;
  readonly #networkId: string;
  #agent: Program | undefined;

  private constructor(of: Testbed & { readonly home: Peer; readonly homeKeys: Keys; readonly networkId: string }) {
    this.processes = of.processes;
    this.places = of.places;
    this.culvert = of.culvert;
    this.home = of.home;
    this.homeKeys = of.homeKeys;
    this.#api = of.api;
    this.#networkId = of.networkId;
  }

  /** Places, server and network; no device is enrolled and no agent runs. */
  static async build(t: Ends): Promise<Fixture> {
    const testbed = await prepareTestbed(t, 3);
    const { processes, places, api } = testbed;
    const homeKeys = await makeKeys(processes);
    const home = await Peer.start(processes, places.home);
    const created = await callInside(processes, api, ['POST', '/private-networks', { name: NETWORK, cidr: CIDR }]);
    const networkId = String(created['id']);
    const identity = { server_public_key: homeKeys.publicKey, server_listen_port: LISTEN_PORT };
    await callInside(processes, api, ['PUT', `/private-networks/${networkId}/server`, identity]);
    return new Fixture({ ...testbed, home, homeKeys, networkId });
  }

  /** A call below the network's path: `['GET', '/devices']`. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const whole = `/private-networks/${this.#networkId}${path}`;
    return callInside(this.processes, this.#api, body === undefined ? [method, whole] : [method, whole, body]);
  }

  /** Enrols a device with a key made for it. */
  async enrol(name: string): Promise<Device> {
    const keys = await makeKeys(this.processes);
    const { device } = await this.call('POST', '/devices', { name, public_key: keys.publicKey });
    const { id, assigned_ip } = device as { id: string; assigned_ip: string };
    const [address = ''] = assigned_ip.split('/');
    return { id, address, keys, config: await this.#config(`/devices/${id}/config`) };
  }

  /** A peer at a place of its own, counted from 1, configured with what the API renders for a new device. */
  async startClient(name: string, place: number): Promise<Client> {
    const device = await this.enrol(name);
    const netns = this.places.client(place);
    const peer = await Peer.start(this.processes, netns);
    const client = { ...device, netns, peer };
    await this.configureAgain(client);
    return client;
  }

  /** Configures the network's server with what the API renders now; gives that. */
  async configureHome(): Promise<string> {
    const config = await this.#config('/server-config');
    await this.home.configure(withPrivateKey(config, this.homeKeys.privateKey));
    return config;
  }

  /** As `startClient` did it: what the peer knew of keys and sessions is gone. */
  async configureAgain({ peer, config, keys }: Client): Promise<void> {
    await peer.configure(withPrivateKey(config, keys.privateKey));
  }

  /** Without the relay: to the port that the home's WireGuard listens on. */
  async configureDirect({ peer, config, keys }: Client): Promise<void> {
    const direct = config.replace(/^Endpoint = .*$/m, `Endpoint = ${HOME_OUTSIDE}:${LISTEN_PORT}`);
    await peer.configure(withPrivateKey(direct, keys.privateKey));
  }

  /** `more`: flags besides. What it keeps is there at its next start. */
  startAgent(...more: string[]): Program {
    const words = ['udp', String(LISTEN_PORT), '--network', NETWORK, '--json', ...more];
    const env = { STATE_DIRECTORY: join(this.culvert.folder, 'agent-state') };
    this.#agent = this.culvert.agent(words, { netns: this.places.home, env });
    return this.#agent;
  }

  async killAgent(): Promise<void> {
    this.#agent?.kill();
    await this.#agent?.ended();
  }

  /** One echo within a second? */
  reaches(netns: string, to: string): Promise<boolean> {
    return echoes(this.processes, { from: netns, to });
  }

  /** What the network's relay says of itself. */
  relay(): Promise<Record<string, unknown>> {
    return this.call('GET', '/relay');
  }

  async #config(path: string): Promise<string> {
    return String((await this.call('GET', path))['config']);
  }
}
