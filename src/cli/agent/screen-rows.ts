/**
 * What the live screen shows of each tunnel and of each private network that the agent carries: a name, where it leads, and remarks below. Laid out
 * by screen-frame.ts.
 */
import type { AgentView, RelayView, TunnelView } from '../../agent/events.ts';
import { amountOf } from '../terminal/amount.ts';
import { type Line, type Span, type Style, span } from '../terminal/paint.ts';

export interface Row {
  /** What people copy: a URL, or `host:port`. */
  readonly label: string;
  readonly styles: readonly Style[];
  readonly target: string;
  /** Lines below, without indent. */
  readonly remarks: readonly Line[];
}

/** `now`: milliseconds since the epoch; `dot` stands between facts. */
export function rowsOf(view: AgentView, { now, dot, arrow }: { now: number; dot: string; arrow: string }): Row[] {
  return [
    ...view.tunnels.map((tunnel) => tunnelRow(tunnel, view, { now, arrow })),
    ...view.relays.map((relay) => relayRow(relay, view, dot)),
  ];
}

function tunnelRow(tunnel: TunnelView, view: AgentView, { now, arrow }: { now: number; arrow: string }): Row {
  const { routes = [] } = tunnel;
  const remarks = [...routeLines(routes, arrow), ...troubles(tunnel, view)];
  if (tunnel.advice !== undefined) remarks.push([span(tunnel.advice, 'yellow')]);
  if (tunnel.state === 'online' && tunnel.expiresAt !== null) {
    remarks.push([span(`ends in ${formatSpan(tunnel.expiresAt - now)}`, 'dim')]);
  }
  const target = routes.length === 0 ? tunnel.target : `${routes.length} ${routes.length === 1 ? 'route' : 'routes'}`;
  return { label: tunnel.url ?? tunnel.name, styles: stylesOf(tunnel), target, remarks };
}

/** `/api → localhost:8080`, one below the other. */
function routeLines(routes: NonNullable<TunnelView['routes']>, arrow: string): Line[] {
  const longest = Math.max(0, ...routes.map(({ path }) => path.length));
  return routes.map(({ path, target }) => [
    span(path),
    span(`${' '.repeat(longest - path.length)} ${arrow} `, 'dim'),
    span(target),
  ]);
}

function relayRow(relay: RelayView, view: AgentView, dot: string): Row {
  const remarks = troubles(relay, view);
  const { interface: managed, fault } = relay.manages ?? {};
  if (fault !== undefined)
    remarks.push([span(`the peers of ${managed} are not in step with the devices: ${fault}`, 'yellow')]);
  if (relay.state === 'online') {
    if (relay.pathWhy !== undefined) remarks.push([wayOf(relay, relay.pathWhy)]);
    remarks.push(factsOf(relay, dot));
  }
  const { endpoint, network, target } = relay;
  return { label: endpoint ?? `network ${network}`, styles: stylesOf(relay), target, remarks };
}

/** The reason for the path of the datagrams, with its effect. */
function wayOf({ udp, path }: RelayView, why: string): Span {
  if (path !== 'stream' || udp !== 'silent') return span(why, 'dim');
  const meaning = 'datagrams use the TLS session, which is slower with packet loss. Retrying UDP.';
  return span(`no UDP connection to the server: ${meaning} (${why})`, 'yellow');
}

/** `network home · by UDP · 2 clients · 1.2 MB in, 340 KB out`. */
function factsOf(relay: RelayView, dot: string): Line {
  const { network, path, clients, bytesIn, bytesOut, dropped } = relay;
  const way = path === 'stream' ? span('over the TLS session', 'yellow') : span('over UDP', 'green');
  const rest = [
    `${clients} ${clients === 1 ? 'client' : 'clients'}`,
    `${amountOf(bytesIn)} in, ${amountOf(bytesOut)} out`,
    ...(dropped === 0 ? [] : [`${dropped} dropped`]),
  ];
  const first = span(`network ${network}`, 'dim');
  const known = path === undefined ? [] : [span(` ${dot} `, 'dim'), way];
  return [first, ...known, span(rest.map((fact) => ` ${dot} ${fact}`).join(''), 'dim')];
}

type Ended = Pick<TunnelView, 'state' | 'reason' | 'fault'>;

function troubles({ state, reason, fault }: Ended, view: AgentView): Line[] {
  const remarks: Line[] = [];
  // While the agent itself is away the line above says why, once for all.
  if (state !== 'online' && reason !== undefined && reason !== view.cause) {
    remarks.push([span(reason, state === 'ended' ? 'red' : 'yellow')]);
  }
  if (fault !== undefined) remarks.push([span(fault, 'yellow')]);
  return remarks;
}

function stylesOf({ state }: Ended): Style[] {
  if (state === 'online') return ['bold', 'cyan'];
  return state === 'ended' ? ['red'] : ['dim'];
}

function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
