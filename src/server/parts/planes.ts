/** The two planes: database and services, and the data node that they direct. */
import { systemClock } from '../../base/clock.ts';
import { DescriptorWatch } from '../../base/process/descriptor-watch.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import { ProcessWatch } from '../../base/process/process-watch.ts';
import type { ControlPlane } from '../../control/open.ts';
import type { StartedNode } from '../../data/data-thread.ts';
import { apiAtEdge } from '../../config/one-port.ts';
import { type Certificates, loadCertificates } from '../certificates/certificates.ts';
import { openControlPlane } from '../control-plane.ts';
import { startDataNode } from '../data-node.ts';
import { API_SOCKET_FILE, socketPath } from '../socket-path.ts';
import type { LogParts } from './logs.ts';
import type { Starting } from './starting.ts';

/** Visitors, agents, webhooks and the database all take some. */
const FEW_DESCRIPTORS = 4_096;

const OWN_LABEL_HELD =
  'a tunnel uses a host name of this server, so it receives no visitors. Delete the tunnel, or change the host name of the server';

/** Opens the database and builds the services. No agent is online yet, whatever the rows say. */
export function openServices(life: Lifecycle, { settings, options, log, late }: Starting): ControlPlane {
  const control = openControlPlane(settings, {
    edgeTemplate: () => late.edgeTemplate,
    apiUrl: () => late.apiUrl,
    log: log.child({ plane: 'control' }),
    program: options.program,
    makeHasher: options.makeHasher,
  });
  life.onClose('database', () => control.close());
  life.onClose('request records', () => control.records.close());
  late.awaited = control.tunnels.forgetAgents();
  for (const label of control.tunnels.heldOwnLabels()) log.warn({ label }, OWN_LABEL_HELD);
  return control;
}

export interface NodePart extends StartedNode {
  /** What it began with. */
  readonly certificates: Certificates;
  /** By which it hands on connections for the API; undefined: the API is not at the edge. */
  readonly apiSocket: string | undefined;
}

/** Starts the data node, and attaches it to the services. Rejects when one of its listeners can't bind. */
export async function startNodePart(
  life: Lifecycle,
  { settings, options, log, late }: Starting,
  control: ControlPlane,
): Promise<NodePart> {
  const atEdge = apiAtEdge(settings);
  const certificates = await loadCertificates({ ...settings, apiHost: atEdge?.host }, systemClock.now());
  const socket = atEdge === undefined ? undefined : socketPath(settings.data_dir, API_SOCKET_FILE);
  if (socket !== undefined) life.onClose('path of the API socket', () => socket.release());
  const { node, failed } = await startDataNode(settings, {
    certificates,
    link: control.link,
    version: options.version,
    serverId: control.serverId,
    awaited: late.awaited,
    apiSocket: socket?.path,
    held: options.held ?? {},
    log: log.child({ plane: 'data' }),
    startNode: options.startNode,
    makeHasher: options.makeHasher,
  });
  life.onClose('data node', () => node.close());
  life.onClose('node directory', control.nodes.attach(node));
  return { node, failed, certificates, apiSocket: socket?.path };
}

/** Watches what this process costs, for metrics. */
export function watchProcess(
  life: Lifecycle,
  { log }: Starting,
  { control, accessLog, serverExport }: LogParts & { readonly control: ControlPlane },
): void {
  const processWatch = new ProcessWatch();
  life.onClose('process watch', () => processWatch.close());
  const descriptors = new DescriptorWatch({ log, few: FEW_DESCRIPTORS, monotonic: () => systemClock.monotonic() });
  life.onClose('file descriptors', descriptors.start());
  life.onClose('process health', control.health.watch(descriptors));
  life.onClose(
    'process metrics',
    control.operatorMetrics.attach({ process: processWatch, descriptors, accessLog, serverExport }),
  );
}
