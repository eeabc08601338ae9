/**
 * The one place where both planes meet: lock → database → services → data node → API. Called by cli/serve and by tests; knows no command
 * line, no signals and no standard output. A start that fails half way closes what it opened.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type HostPort, LOOPBACK, NetworkSet } from '../base/addr.ts';
import { systemClock } from '../base/clock.ts';
import { DescriptorWatch } from '../base/descriptor-watch.ts';
import { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { withoutLogged } from '../base/logged-errors.ts';
import { ProcessWatch } from '../base/process-watch.ts';
import { agentsPublicAddress, apiPublicUrl, edgePublicUrl } from '../config/computed.ts';
import type { Settings } from '../config/schema.ts';
import type { Discovery } from '../control/api/context.ts';
import { listenApi } from '../control/api/listener.ts';
import { makeStartRoom } from '../control/db/disk-reserve.ts';
import { lockDataDir } from '../control/db/open.ts';
import { setRemainsAside } from '../control/db/remains.ts';
import { startJobs } from '../control/jobs.ts';
import type { ControlOptions, ControlPlane } from '../control/open.ts';
import type { CreatedUser } from '../control/services/accounts/accounts.ts';
import type { BoundAddress, NodeAccess, NodeAddresses } from '../plane/link.ts';
import { DRAIN_MS } from '../wire/messages.ts';
import { serveCertificates } from './acme.ts';
import { openAdminSocket } from './admin-socket.ts';
import { makeApi, makeLiveFeed } from './api.ts';
import { CertificateWatch, type WatchedPair } from './certificate-watch.ts';
import { type Certificate, type Certificates, loadCertificates, pairsInUse, pinOf } from './certificates.ts';
import { ApiTls } from './api-tls.ts';
import { openControlPlane } from './control-plane.ts';
import { startDataNode, type StartNode } from './data-node.ts';
import { startFault } from './start-fault.ts';
import { startMail } from './mail.ts';
import { serveMetrics } from './metrics.ts';
import { renewSelfSigned } from './self-signed-renewal.ts';

export interface ServerOptions {
  readonly version: string;
  readonly log: Logger;
  /** Lines of the log that could not be written; kept up to date by its writer. */
  readonly logLines?: { readonly lost: number; readonly isLosing: boolean };
  /** Begins a new server over what another one left without its database, which is moved aside. Default: such a start is refused. */
  readonly newServer?: boolean;
  /** What is in flight at a drain gets this long; default 30 s. */
  readonly drainMs?: number;
  /** Another data node, for tests of the control plane alone. */
  readonly startNode?: StartNode;
  /** What computes argon2id in place of threads; called by each plane, which closes what it gets. */
  readonly makeHasher?: ControlOptions['makeHasher'];
}

export interface ServerAddresses {
  readonly api: AddressInfo;
  readonly http: AddressInfo | null;
  readonly https: AddressInfo | null;
  readonly agents: AddressInfo;
  readonly metrics: AddressInfo | null;
}

export interface Server {
  readonly addresses: ServerAddresses;
  /** Where the API is reached, with the real port. */
  readonly apiUrl: string;
  /** Set when this start made the database: the only time that the password can be shown. */
  readonly firstOwner: CreatedUser | undefined;
  /** The owner's address, when an earlier start made the account and ended before it showed the password. */
  readonly unseenOwner: string | undefined;
  /** To be called once the operator has the password of `firstOwner`. */
  ownerShown(): void;
  /** Reads certificates from files now, and not at the next look. What does not fit is logged and kept out. Never rejects. */
  reloadCertificates(): Promise<void>;
  /** Takes nothing new, tells agents, lets what is in flight end (30 s), then closes. Call `close` meanwhile to cut it short. */
  drain(): Promise<void>;
  /** Cuts everything and frees the data folder. May be called twice. */
  close(): Promise<void>;
  /** Resolves when the data node has ended by a fault: nothing is served any more, and the process should end. */
  readonly failed: Promise<Error>;
}

/** Visitors, agents, webhooks and the database all take some. */
const FEW_DESCRIPTORS = 4_096;

/** Webhooks that are on their way at a close get this long; then they are sent again after the next start. */
const FORWARDS_STOP_MS = 1_000;

const OWN_LABEL_HELD =
  'a tunnel has a name of this server itself: it gets no visitors. Delete it, or give the server another name';

/** Starts the server on these settings. Throws when the data folder is in use, a listener can't bind, or a file is not as it must be. */
export async function startServer(settings: Settings, options: ServerOptions): Promise<Server> {
  const life = new Lifecycle();
  try {
    return await open(settings, options, life);
  } catch (error) {
    await life.close();
    throw startFault(error, settings);
  }
}

/** What becomes known while the listeners bind: the ports, where settings say 0. */
interface Late {
  edgeTemplate: string;
  apiUrl: string;
  discovery: Discovery | undefined;
  /** Of the agents' certificate that is served now. */
  pin: ReturnType<typeof pinOf>;
}

async function open(settings: Settings, options: ServerOptions, life: Lifecycle): Promise<Server> {
  const { version } = options;
  const log = withoutLogged(options.log);
  life.onClose('data folder', lockDataDir(settings.data_dir));
  if (options.newServer === true) {
    const aside = setRemainsAside(settings.data_dir, systemClock.now());
    if (aside !== undefined) log.warn({ aside }, 'files of another server were moved aside; a new server begins');
  }
  makeStartRoom(settings.data_dir, log);
  const operators = await openAdminSocket(settings.data_dir);
  life.onClose('socket of culvert admin', () => operators.close());
  const late: Late = {
    edgeTemplate: settings.edge.public_url,
    apiUrl: settings.api.public_url,
    discovery: undefined,
    pin: {},
  };
  const control = openControlPlane(settings, {
    edgeTemplate: () => late.edgeTemplate,
    apiUrl: () => late.apiUrl,
    log: log.child({ plane: 'control' }),
    makeHasher: options.makeHasher,
  });
  life.onClose('database', () => control.close());
  life.onClose('records of requests', () => control.records.close());
  control.tunnels.forgetAgents();
  for (const label of control.tunnels.heldOwnLabels()) log.warn({ label }, OWN_LABEL_HELD);

  const certificates = await loadCertificates(settings, systemClock.now());
  const { node, failed } = await startDataNode(settings, {
    certificates,
    link: control.link,
    version,
    serverId: control.serverId,
    log: log.child({ plane: 'data' }),
    startNode: options.startNode,
    makeHasher: options.makeHasher,
  });
  life.onClose('data node', () => node.close());
  life.onClose('node directory', control.nodes.attach(node));
  const processWatch = new ProcessWatch();
  life.onClose('process watch', () => processWatch.close());
  const descriptors = new DescriptorWatch({ log, few: FEW_DESCRIPTORS, monotonic: () => systemClock.monotonic() });
  life.onClose('file descriptors', descriptors.start());
  life.onClose('metrics of the process', control.operatorMetrics.attach({ process: processWatch, descriptors }));
  const { domain } = settings.edge;
  const apiTls = new ApiTls(() => late.apiUrl);
  const shown: Pick<NodeAccess, 'setCertificates' | 'setChallenges' | 'setAgentCertificate'> = {
    setCertificates: async (list) => {
      await node.setCertificates(list);
      apiTls.use(list);
    },
    setChallenges: (list) => node.setChallenges(list),
    setAgentCertificate: (pair) => node.setAgentCertificate(pair),
  };
  if (certificates.edge !== null) apiTls.use([certificates.edge]);
  const served = serveCertificates({ control, node: shown, domain, fallback: certificates.edge, log });
  life.onClose('certificates', () => served.stop());
  const renewal = {
    clock: systemClock,
    log: log.child({ part: 'certificates' }),
    use: {
      edge: (pair: Certificate) => served.useFallback(pair),
      agents: (pair: Certificate) => node.setAgentCertificate(pair),
    },
  };
  life.onClose('self-signed certificates', renewSelfSigned(settings, certificates, renewal));
  learnPorts(settings, { addresses: node.addresses, certificates, version, late, control, log });
  const watch = new CertificateWatch(watchedPairs(settings, { node: shown, certificates, late }), {
    clock: systemClock,
    log: log.child({ part: 'certificates' }),
  });
  life.onClose('certificate files', () => watch.close());
  await watch.look();

  life.onClose('counts of refused webhooks', () => control.refusals.foldAll());
  const app = makeApi(settings, {
    control,
    version,
    log,
    apiUrl: () => late.apiUrl,
    discovery: () => late.discovery && { ...late.discovery, ...late.pin },
  });
  const liveFeed = makeLiveFeed(settings, { control, log, apiUrl: () => late.apiUrl });
  const api = await listenApi(app, settings.api.listen, {
    upgrades: liveFeed,
    exempt: new NetworkSet([...settings.api.trusted_proxies, ...LOOPBACK]),
    monotonic: () => systemClock.monotonic(),
    log: log.child({ part: 'api' }),
    tls: settings.api.tls ? apiTls.certificate : null,
  });
  apiTls.show(api);
  life.onClose('API', () => api.close());
  life.onClose('live feeds', () => liveFeed.cut());
  life.onClose('waiting command lines', () => control.deviceLogins.endWaits());
  life.onClose('waiting readers of webhooks', () => control.mailbox.endWaits());
  if (settings.api.public_url === apiPublicUrl(settings.api, settings.edge.domain)) {
    const { tls } = settings.api;
    const listen = { host: settings.api.listen.host, port: api.address.port };
    late.apiUrl = apiPublicUrl({ listen, tls }, settings.edge.domain);
  }
  const metrics = await serveMetrics(settings, { control, version, log });
  life.onClose('metrics', async () => metrics?.close());
  // Last of all: a start that fails must not make an account whose password nobody has seen.
  const firstOwner = await control.accounts.createFirstOwner();
  // Its password is shown once: it must not be that of an account which a power cut takes.
  if (firstOwner !== undefined) await control.store.durable();
  // Commands are served once that account is there: one of theirs would take its place.
  life.onClose('commands of operators', () => operators.cut());
  operators.serve(app);
  life.onClose(
    'mail',
    startMail(settings, { control, apiUrl: () => late.apiUrl, log: log.child({ plane: 'control', part: 'mail' }) }),
  );
  control.forwarder.start();
  life.onClose('webhooks on their way', () => control.forwarder.stop(FORWARDS_STOP_MS));
  life.onClose('free space', control.disk.start());
  life.onClose('watch over the database file', control.store.watchFile());
  await control.health.look();
  life.onClose('health checks', control.health.start(options.logLines));
  life.onClose('jobs', startJobs({ ...control, clock: systemClock, log }));

  return {
    addresses: { api: api.address, ...node.addresses, metrics: metrics?.address ?? null },
    apiUrl: late.apiUrl,
    firstOwner,
    unseenOwner: firstOwner === undefined ? control.accounts.unseenOwner() : undefined,
    ownerShown: () => control.accounts.ownerShown(),
    reloadCertificates: () => watch.look(),
    drain: async () => {
      control.deviceLogins.endWaits();
      control.mailbox.endWaits();
      // A request to the API that never gets whole must not hold up the stop: `close` cuts what is left.
      const patience = new AbortController();
      const over = setTimeout(options.drainMs ?? DRAIN_MS, undefined, { signal: patience.signal }).catch(
        () => undefined,
      );
      await Promise.race([
        Promise.all([
          node.drain(options.drainMs ?? DRAIN_MS),
          liveFeed.end(),
          api.drain(),
          operators.drain(),
          control.forwarder.stop(options.drainMs ?? DRAIN_MS),
        ]),
        over,
      ]);
      patience.abort();
      await life.close();
    },
    close: () => life.close(),
    failed,
  };
}

interface Bound {
  readonly addresses: NodeAddresses;
  readonly certificates: Certificates;
  readonly version: string;
  readonly late: Late;
  readonly control: ControlPlane;
  readonly log: Logger;
}

/** Which files are watched, and what takes a renewed pair of them. */
function watchedPairs(
  settings: Settings,
  {
    node,
    certificates,
    late,
  }: Pick<Bound, 'certificates' | 'late'> & {
    readonly node: Pick<NodeAccess, 'setCertificates' | 'setAgentCertificate'>;
  },
): WatchedPair[] {
  return pairsInUse(settings).map(({ certFile, keyFile, edge, agents }) => ({
    certFile,
    keyFile,
    current: agents ? certificates.agents : (certificates.edge ?? certificates.agents),
    use: async (pair) => {
      if (edge) await node.setCertificates([pair]);
      if (!agents) return;
      await node.setAgentCertificate(pair);
      late.pin = pinOf(pair.cert);
    },
  }));
}

/** Fills in what depends on the ports that the data node has. */
function learnPorts(settings: Settings, { addresses, certificates, version, late, control, log }: Bound): void {
  const { http, https, agents } = addresses;
  const edge = settings.edge;
  const withPort = (at: HostPort | null, bound: BoundAddress | null) =>
    at === null || bound === null ? at : { host: at.host, port: bound.port };
  const computed = edgePublicUrl({
    domain: edge.domain,
    http_listen: withPort(edge.http_listen, http),
    https_listen: withPort(edge.https_listen, https),
    tls: edge.tls,
  });
  if (edge.public_url === edgePublicUrl(edge) && computed !== edge.public_url) {
    late.edgeTemplate = computed;
    void control.tunnels.announceAll().catch((error: unknown) => {
      log.error({ err: error }, 'not all routes have their new URLs: restart the server');
    });
  }
  late.pin = pinOf(certificates.agents.cert);
  const dial = settings.agents.public_address;
  const isComputed = dial === agentsPublicAddress(settings.agents.listen, edge.domain);
  late.discovery = {
    version,
    agent_address: isComputed
      ? agentsPublicAddress({ host: settings.agents.listen.host, port: agents.port }, edge.domain)
      : dial,
    edge_domain: edge.domain,
    server_id: control.serverId,
  };
}
