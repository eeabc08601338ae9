/**
 * Settings → control plane: which setting becomes which option. Called by start.ts and admin.ts.
 */
import { formatHost } from '../base/addr.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/schema.ts';
import { type ControlPlane, openControl } from '../control/open.ts';

export interface ControlPlaneDeps {
  /** Template of public URLs, with `{subdomain}`; asked at each use, for a listener on port 0 learns its own late. */
  readonly edgeTemplate: () => string;
  readonly apiUrl: () => string;
  readonly log: Logger;
  /** True where another process may be serving from this folder. */
  readonly besideServer?: boolean;
}

/** Throws with what to do when the data folder is not usable. */
export function openControlPlane(settings: Settings, deps: ControlPlaneDeps): ControlPlane {
  return openControl({
    dataDir: settings.data_dir,
    tcpPorts: settings.edge.tcp_ports,
    names: {
      url: (label) => deps.edgeTemplate().replace('{subdomain}', label),
      tcpUrl: (port) => `tcp://${formatHost(settings.edge.tcp_public_host)}:${port}`,
    },
    newOrg: {
      plan: settings.plans.default,
      approval: settings.accounts.require_approval ? 'pending' : 'approved',
    },
    apiUrl: deps.apiUrl,
    log: deps.log,
    besideServer: deps.besideServer ?? false,
  });
}
