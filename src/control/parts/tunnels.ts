/**
 * The services of tunnels and of what belongs to them: names, gates, policies, certificates, counters, webhooks. Opened by control/open.ts.
 */
import type { Core } from './core.ts';
import type { TokenServices } from './tokens.ts';
import { DnsTxtRecords } from '../providers/dns.ts';
import { Certificates } from '../certificates/service.ts';
import { DomainChallenges } from '../domains/challenges.ts';
import { DomainChecks } from '../domains/checks.ts';
import { Domains } from '../domains/service.ts';
import { Replays } from '../inspector/replay/service.ts';
import { MetricKeys } from '../metrics/keys.ts';
import { Metrics } from '../metrics/service.ts';
import { ReservedSubdomains } from '../subdomains/service.ts';
import { BasicGates } from '../tunnels/access-control/password.ts';
import { Claims } from '../tunnels/claims.ts';
import { Connections } from '../tunnels/connections/service.ts';
import { MaintenanceSwitch } from '../tunnels/access-control/maintenance-switch.ts';
import { Policies } from '../tunnels/policies/service.ts';
import { PolicyTests } from '../tunnels/policies/policy-test.ts';
import { Tunnels } from '../tunnels/service.ts';
import { Usage } from '../tunnels/usage.ts';
import { VisitorGates } from '../tunnels/visitor-login/service.ts';
import { VisitorLogins } from '../tunnels/visitor-login/sign-in.ts';
import { Waits } from '../../base/limits/waits.ts';
import { Forwarder } from '../webhooks/forwarder.ts';
import { Mailbox, READER_WAITS } from '../webhooks/mailbox.ts';
import { ReaderKeys } from '../webhooks/reader-keys.ts';
import { Receivers } from '../webhooks/service.ts';
import { Refusals } from '../webhooks/refusals.ts';

export interface TunnelServices {
  readonly tunnels: Tunnels;
  readonly policies: Policies;
  readonly policyTests: PolicyTests;
  readonly basicGates: BasicGates;
  readonly visitorGates: VisitorGates;
  readonly visitorLogins: VisitorLogins;
  readonly maintenance: MaintenanceSwitch;
  readonly reservedSubdomains: ReservedSubdomains;
  readonly domains: Domains;
  readonly domainChecks: DomainChecks;
  readonly certificates: Certificates;
  readonly connections: Connections;
  readonly replays: Replays;
  readonly metrics: Metrics;
  readonly metricKeys: MetricKeys;
  readonly receivers: Receivers;
  readonly mailbox: Mailbox;
  readonly readerKeys: ReaderKeys;
  readonly forwarder: Forwarder;
  readonly refusals: Refusals;
  readonly claims: Claims;
  readonly usage: Usage;
  /** Signs what browsers carry between the planes; base64url. */
  readonly visitorKey: string;
}

export function openTunnels(core: Core, { tokens }: Pick<TokenServices, 'tokens'>): TunnelServices {
  const {
    options,
    store,
    sealer,
    outbox,
    nodes,
    publisher: routeEvents,
    maintenance,
    ownLabels,
    routes,
    spend,
    log,
  } = core;
  const { tcpPorts, apiUrl, visitorProvider } = options;
  // Visitors of another provider must log in again.
  const visitorKey = sealer.derive(`visitor_gates/${visitorProvider}/${options.oauth.google?.issuer ?? ''}`);
  const tunnels = new Tunnels({ store, routeEvents, routes, maintenance, nodes, tcpPorts, ownLabels });
  const dns = new DnsTxtRecords(options.dnsResolvers);
  const waits = new Waits(READER_WAITS);
  const forwarder = new Forwarder({ store, nodes, routes, maintenance, log });
  const refusals = new Refusals({ store });
  // A pause that is over, or a tunnel that is gone.
  routeEvents.subscribe((delta) => {
    if (delta.kind === 'put') forwarder.tunnelChanged(delta.route.tunnelId);
    if (delta.kind === 'remove') forwarder.tunnelChanged(delta.tunnelId);
  });
  const maintenanceSwitch = new MaintenanceSwitch({ store, routeEvents, routes, maintenance });
  return {
    tunnels,
    policies: new Policies({
      store,
      routeEvents,
      routes,
      keyPlaces: { allowPrivate: options.allowPrivateJwks, ownIssuer: apiUrl },
    }),
    policyTests: new PolicyTests({ store, nodes, records: core.records }),
    basicGates: new BasicGates({ store, routeEvents, routes, passwords: core.passwords }),
    visitorGates: new VisitorGates({
      store,
      routeEvents,
      routes,
      billing: options.billing.mode,
      provider: { id: visitorProvider, isSetUp: core.providers[visitorProvider] !== null },
    }),
    visitorLogins: new VisitorLogins({
      store,
      sealer,
      routes,
      edgeDomain: options.edgeDomain,
      provider: core.providers[visitorProvider],
      providerId: visitorProvider,
      visitorKey,
      apiUrl,
      log,
    }),
    maintenance: maintenanceSwitch,
    reservedSubdomains: new ReservedSubdomains({ store, billing: options.billing.mode, ownLabels }),
    domains: new Domains({
      store,
      routeEvents,
      routes,
      challenges: new DomainChallenges(dns),
      ownHosts: core.ownHosts,
    }),
    domainChecks: new DomainChecks({ store, routeEvents, routes, records: dns, outbox }),
    certificates: new Certificates({ store, sealer, acme: options.acme, log }),
    connections: new Connections({ store, nodes }),
    replays: new Replays({
      store,
      nodes,
      routes,
      records: core.records,
      rules: options.replay,
      edgeDomain: options.edgeDomain,
    }),
    metrics: new Metrics({ store, nodes }),
    metricKeys: new MetricKeys({ store }),
    receivers: new Receivers({ store, sealer, lines: forwarder, refusals, waits, drains: core.drains }),
    mailbox: new Mailbox({ store, sealer, lines: forwarder, refusals, waits }),
    forwarder,
    refusals,
    readerKeys: new ReaderKeys({ store, tokens }),
    claims: new Claims({ store, tokens, spend, routeEvents, routes, maintenance, nodes, tcpPorts, ownLabels }),
    usage: new Usage({
      store,
      nodes,
      spend,
      maintenance: maintenanceSwitch,
      onAgent: (tunnelId) => forwarder.tunnelChanged(tunnelId),
    }),
    visitorKey: visitorKey.toString('base64url'),
  };
}
