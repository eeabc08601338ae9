/**
 * Tunnels in the shape of version 2 of ngrok's local API, so that what was written for it works unchanged:
 *
 *   curl -s localhost:4040/api/tunnels | jq -r '.tunnels[0].public_url'
 *
 * Only those that have a public URL are listed: scripts wait for the first one.
 */
import { pathToFileURL } from 'node:url';
import type { TunnelView } from '../events.ts';
import type { TunnelSpec } from '../tunnel.ts';
import type { AgentSource } from './agent-source.ts';
import type { Watch } from './watch.ts';

export const TUNNELS_PATH = '/api/tunnels';

export function tunnelList(source: AgentSource, watch: Watch): object {
  const tunnels = liveTunnels(source).map((tunnel) => ngrokTunnel(tunnel, watch));
  return { tunnels, uri: TUNNELS_PATH };
}

/** Undefined: no tunnel of this name has a public URL. */
export function tunnelDetail(source: AgentSource, watch: Watch, name: string): object | undefined {
  const found = liveTunnels(source).find((tunnel) => tunnel.name === name);
  return found === undefined ? undefined : ngrokTunnel(found, watch);
}

function liveTunnels(source: AgentSource): readonly TunnelView[] {
  return source.view?.tunnels.filter(({ url, state }) => url !== undefined && state !== 'ended') ?? [];
}

function ngrokTunnel(tunnel: TunnelView, watch: Watch): object {
  const { name, tunnelId, url = '', protocol, target, state } = tunnel;
  const known = watch.find(name);
  const now = watch.clock.monotonic();
  return {
    name,
    ID: tunnelId ?? '',
    uri: `${TUNNELS_PATH}/${encodeURIComponent(name)}`,
    public_url: url,
    proto: url.slice(0, Math.max(0, url.indexOf(':'))),
    config: {
      addr: folderUrl(known?.spec) ?? addressOf(protocol, known?.spec.target.text ?? target),
      inspect: protocol !== 'tcp' && known?.spec.inspect !== false,
    },
    metrics: {
      conns: { gauge: known?.tally.openConnections ?? 0, ...known?.tally.connections.view(now) },
      http: { ...known?.tally.requests.view(now) },
    },
    online: state === 'online',
  };
}

/** Of a folder, as ngrok has it. This page is for users of this machine, who may know where the folder is. */
function folderUrl(spec: TunnelSpec | undefined): string | undefined {
  const root = spec?.target.inProcess?.root;
  return root === undefined ? undefined : pathToFileURL(root).href;
}

/** Where the agent dials, as a URL for HTTP. */
function addressOf(protocol: string, target: string): string {
  return protocol === 'tcp' || target.includes('://') ? target : `http://${target}`;
}
