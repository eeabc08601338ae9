/**
 * Settings → control plane: which setting becomes which option. Called by start.ts and admin.ts.
 */
import { formatHost, parseHostPort } from '../base/net/addr.ts';
import type { Logger } from '../base/log.ts';
import { buildInfo } from '../base/process/version.ts';
import { releasesDirOf } from '../config/computed.ts';
import type { Settings } from '../config/schema.ts';
import type { ReleaseOptions } from '../control/download/service.ts';
import { type ControlOptions, type ControlPlane, openControl } from '../control/open.ts';
import { isBackupOn } from './backup/task.ts';
import { acmeSetup } from './certificates/acme.ts';
import { instanceSource } from './parts/instance.ts';
import { pricesOf } from './prices.ts';

export interface ControlPlaneDeps {
  /** Template of public URLs, with `{subdomain}`; asked at each use, for a listener on port 0 learns its own late. */
  readonly edgeTemplate: () => string;
  readonly apiUrl: () => string;
  readonly log: Logger;
  /** The program that runs: its own unless a test gives another. */
  readonly program?: ReleaseOptions['program'] | undefined;
  /** As in ControlOptions. */
  readonly makeHasher?: ControlOptions['makeHasher'];
}

/** Throws with what to do when the data folder is not usable. */
export function openControlPlane(settings: Settings, deps: ControlPlaneDeps): ControlPlane {
  const instance = instanceSource(settings);
  return openControl({
    ...instance.read(new Map()).settings,
    instance,
    dataDir: settings.data_dir,
    tcpPorts: settings.edge.tcp_ports,
    udpPorts: settings.edge.udp_ports,
    names: {
      url: (label) => deps.edgeTemplate().replace('{subdomain}', label),
      tcpUrl: (port) => `tcp://${formatHost(settings.edge.tcp_public_host)}:${port}`,
      udpEndpoint: (port) => `${formatHost(settings.edge.tcp_public_host)}:${port}`,
    },
    edgeDomain: settings.edge.domain,
    agentsHost: parseHostPort(settings.agents.public_address)?.host ?? '',
    acme: acmeSetup(settings, deps.log),
    dnsResolvers: settings.dns.resolvers,
    allowPrivateJwks: settings.edge.allow_private_jwks,
    prices: pricesOf(settings),
    recordsRequests: settings.inspector.enabled,
    websocketFrames: settings.inspector.websocket_frames,
    maxRecordedBytes: settings.inspector.max_stored_mb * 1024 * 1024,
    minFree: minFreeOf(settings),
    replay: { enabled: settings.inspector.replay, allow: settings.inspector.replay_allow },
    billing: billingOptions(settings),
    owner: settings.accounts.owner,
    visitorProvider: settings.edge_auth.provider,
    backupEveryMs: isBackupOn(settings) ? settings.backup.every : null,
    releases: { releasesDir: releasesDirOf(settings), program: deps.program ?? ownProgram() },
    apiUrl: deps.apiUrl,
    log: deps.log,
    makeHasher: deps.makeHasher,
  });
}

function ownProgram(): ReleaseOptions['program'] {
  const { version, releaseKey } = buildInfo();
  return { version, key: releaseKey };
}

function minFreeOf({ inspector: { min_free_mb: megabytes } }: Settings): ControlOptions['minFree'] {
  return megabytes === 'auto' ? megabytes : megabytes * 1024 * 1024;
}

/** Stripe without its keys sells nothing; config/warnings.ts says so at the start. */
function billingOptions({ billing }: Settings): ControlOptions['billing'] {
  const { mode } = billing;
  if (mode !== 'stripe') return { mode };
  const { secret_key: secretKey, webhook_secret: webhookSecret, api_base: apiBase, prices } = billing.stripe;
  return secretKey === null || webhookSecret === null
    ? { mode: 'none' }
    : { mode, secretKey, webhookSecret, apiBase, prices };
}
