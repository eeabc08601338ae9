/**
 * What an agent says while it runs, in one of three ways: a live screen on a terminal (screen.ts), JSON lines, or the public URLs
 * alone. Log lines go to standard error and are not this file's.
 */
import type { AgentEvent, AgentView } from '../../agent/events.ts';
import { type Output, writeLine } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/paint.ts';

export interface AgentOutput {
  /** Called once, when the agent runs. */
  start(view: () => AgentView): void;
  onEvent(event: AgentEvent): void;
  /** Called once, when it is over. */
  end(): void;
}

/** On standard output the public URL alone (of a relay `host:port`), one line per tunnel, once it is live. */
export class UrlLines implements AgentOutput {
  readonly #stdout: Output;
  /** By tunnel: a tunnel that comes back at the same URL is no news. */
  readonly #said = new Map<string, string>();

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  start(): void {}

  onEvent(event: AgentEvent): void {
    if (event.kind === 'relay_online') return this.#say(event.relay.name, event.relay.endpoint);
    if (event.kind === 'tunnel_online') this.#say(event.tunnel.name, event.tunnel.url);
  }

  end(): void {}

  #say(name: string, url: string | undefined): void {
    if (url === undefined || this.#said.get(name) === url) return;
    this.#said.set(name, url);
    writeLine(this.#stdout, harmless(url));
  }
}

/** Contract §9, `--json`: one object per line; names of events and fields are stable. */
export class JsonLines implements AgentOutput {
  readonly #stdout: Output;
  readonly #now: () => number;

  constructor(stdout: Output, now: () => number) {
    this.#stdout = stdout;
    this.#now = now;
  }

  start(): void {}

  onEvent(event: AgentEvent): void {
    const { event: name, ...fields } = jsonOf(event);
    const at = new Date(this.#now()).toISOString();
    writeLine(this.#stdout, jsonText({ event: name, at, ...fields }));
  }

  end(): void {}
}

/** The public form of each event. Adding a field is fine; renaming one breaks scripts. */
export function jsonOf(event: AgentEvent): { event: string } & Record<string, unknown> {
  switch (event.kind) {
    case 'inspector_online':
      return { event: 'inspector_online', url: event.url };
    case 'online': {
      const { agentId, account, serverVersion } = event;
      return { event: 'connected', agent_id: agentId, account, server_version: serverVersion };
    }
    case 'offline':
      return { event: 'disconnected', cause: event.cause };
    case 'retrying':
      return { event: 'retrying', cause: event.cause, in_ms: event.inMs };
    case 'server_lost':
      return { event: 'server_lost', reason: event.reason, code: event.code, retry_in_ms: event.retryInMs };
    case 'server_changed': {
      const { reason, serverId = null, ownServerId = null, retryInMs } = event;
      return {
        event: 'server_changed',
        reason,
        server_id: serverId,
        own_server_id: ownServerId,
        retry_in_ms: retryInMs,
      };
    }
    case 'tunnel_online': {
      const { name, url, protocol, target, routes, tunnelId, expiresAt } = event.tunnel;
      const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
      return { event: 'tunnel_online', name, url, protocol, target, routes, tunnel_id: tunnelId, expires_at: expires };
    }
    case 'tunnel_offline':
      return { event: 'tunnel_offline', name: event.tunnel.name, url: event.tunnel.url, reason: event.reason };
    case 'tunnel_refused': {
      const { tunnel, code, message, final } = event;
      return { event: 'tunnel_refused', name: tunnel.name, code, message, final };
    }
    case 'target': {
      const { name, target, fault } = event.tunnel;
      if (fault === undefined) return { event: 'local_reachable', name, target };
      return { event: 'local_unreachable', name, target, cause: fault };
    }
    case 'tunnel_advice':
      return { event: 'tunnel_advice', name: event.tunnel.name, code: event.code, message: event.message };
    case 'relay_online': {
      const { name, network, networkId, endpoint, target } = event.relay;
      return { event: 'relay_online', name, network, network_id: networkId, endpoint, target };
    }
    case 'relay_path':
      return { event: 'relay_path', name: event.relay.name, path: event.path, why: event.why };
    case 'relay_peers': {
      const { relay, added, changed, removed, foreign } = event;
      return {
        event: 'relay_peers',
        name: relay.name,
        interface: relay.manages?.interface,
        added,
        changed,
        removed,
        foreign,
      };
    }
    case 'relay_peers_fault': {
      const { name, manages } = event.relay;
      return { event: 'relay_peers_fault', name, interface: manages?.interface, cause: manages?.fault ?? null };
    }
    case 'relay_offline':
      return { event: 'relay_offline', name: event.relay.name, endpoint: event.relay.endpoint, reason: event.reason };
    case 'relay_refused': {
      const { relay, code, message, final } = event;
      return { event: 'relay_refused', name: relay.name, code, message, final };
    }
    case 'relay_target': {
      const { name, target, fault } = event.relay;
      if (fault === undefined) return { event: 'local_reachable', name, target };
      return { event: 'local_unreachable', name, target, cause: fault };
    }
    case 'request': {
      const { tunnel, at, method, path, status, ms, dryRun } = event.request;
      const started_at = new Date(at).toISOString();
      return { event: 'request', name: tunnel, started_at, method, path, status, ms, would_be: dryRun };
    }
    case 'settings_reloaded':
      return { event: 'settings_reloaded', added: event.added, changed: event.changed, removed: event.removed };
    case 'settings_rejected':
      return { event: 'settings_rejected', reason: event.reason };
    case 'draining':
      return { event: 'draining', in_flight: event.inFlight };
    case 'stopped':
      return { event: 'stopped', exit_code: event.reason.code, message: event.reason.message };
    default:
      return event satisfies never;
  }
}
