/**
 * Puts the control plane together: the core, and all features as slices. Called by server/start.ts, by server/admin.ts and by tests.
 * Opens no socket and starts no timer.
 */
import type { Link } from '../plane/link.ts';
import { accessKeys, type AccessKeyOptions, type AccessKeyServices } from './access-keys/index.ts';
import { alerts, type AlertServices } from './attention/alerts/index.ts';
import { attention } from './attention/index.ts';
import { audit, type AuditServices } from './audit/index.ts';
import { accounts, type AccountOptions, type AccountServices } from './auth/accounts/index.ts';
import { cliLogins, type CliLoginServices } from './auth/cli/index.ts';
import { secondFactor, type MfaServices } from './auth/mfa/index.ts';
import { oauth, type OauthServices } from './auth/oauth/index.ts';
import { sessions, type SessionServices } from './auth/sessions/index.ts';
import { backups, type BackupOptions, type BackupServices } from './backups/index.ts';
import { billing, type BillingServices, type BillingSliceOptions } from './billing/index.ts';
import { certificates, type CertificateOptions, type CertificateServices } from './certificates/index.ts';
import { type Core, type CoreOptions, openCore } from './core/core.ts';
import type { Bearers } from './core/http/auth.ts';
import type { Job } from './core/jobs.ts';
import { Retention } from './core/retention.ts';
import { Slices } from './core/slice.ts';
import { download, type DownloadOptions, type DownloadServices } from './download/index.ts';
import { domains, type DomainOptions, type DomainServices } from './domains/index.ts';
import { inspector, type InspectorOptions, type InspectorServices } from './inspector/index.ts';
import { instance, type InstanceServices, type InstanceSliceOptions } from './operator/instance/index.ts';
import { inProcessLink } from './link.ts';
import { metrics, type MetricServices } from './metrics/index.ts';
import { networks, type NetworkOptions, type NetworkServices } from './networks/index.ts';
import { operator, type OperatorServices } from './operator/index.ts';
import { orgExport, type ExportOptions, type ExportServices } from './organizations/export/index.ts';
import { organizations, type OrganizationServices } from './organizations/index.ts';
import { projects } from './projects/index.ts';
import { subdomains, type SubdomainOptions, type SubdomainServices } from './subdomains/index.ts';
import { accessControl, type AccessControlServices } from './tunnels/access-control/index.ts';
import { tunnels, type TunnelOptions, type TunnelServices } from './tunnels/index.ts';
import { narrowing, type NarrowingServices } from './tunnels/narrowing/index.ts';
import { policies, type PolicyOptions, type PolicyServices } from './tunnels/policies/index.ts';
import { visitorLogin, type VisitorLoginOptions, type VisitorLoginServices } from './tunnels/visitor-login/index.ts';
import { web } from './web/index.ts';
import { webhooks, type WebhookServices } from './webhooks/index.ts';

/** All slices, from the ground up: the order in which they are opened, mounted, and handle events. */
export const SLICES = [
  certificates,
  organizations,
  audit,
  billing,
  metrics,
  projects,
  accessKeys,
  subdomains,
  accounts,
  sessions,
  cliLogins,
  oauth,
  secondFactor,
  tunnels,
  accessControl,
  policies,
  visitorLogin,
  narrowing,
  networks,
  domains,
  webhooks,
  inspector,
  orgExport,
  backups,
  operator,
  instance,
  attention,
  alerts,
  download,
  web,
] as const;

/** Settings of the control plane. Made by server/control-plane.ts and by tests. */
export interface ControlOptions
  extends CoreOptions,
    CertificateOptions,
    BillingSliceOptions,
    AccessKeyOptions,
    Pick<SubdomainOptions, 'agentsHost'>,
    AccountOptions,
    TunnelOptions,
    PolicyOptions,
    Pick<VisitorLoginOptions, 'visitorProvider'>,
    NetworkOptions,
    DomainOptions,
    InspectorOptions,
    ExportOptions,
    BackupOptions,
    InstanceSliceOptions,
    DownloadOptions {
  readonly billing: BillingSliceOptions['billing'];
}

type Services = CertificateServices &
  OrganizationServices &
  AuditServices &
  BillingServices &
  MetricServices &
  AccessKeyServices &
  SubdomainServices &
  AccountServices &
  SessionServices &
  CliLoginServices &
  OauthServices &
  MfaServices &
  TunnelServices &
  AccessControlServices &
  PolicyServices &
  VisitorLoginServices &
  NarrowingServices &
  NetworkServices &
  DomainServices &
  WebhookServices &
  InspectorServices &
  ExportServices &
  BackupServices &
  OperatorServices &
  AlertServices &
  InstanceServices &
  DownloadServices;

export type ControlPlane = Core &
  Services & {
    readonly slices: Slices;
    readonly bearers: Bearers;
    readonly jobs: readonly Job[];
    readonly retention: Retention;
    readonly link: Link;
    close(): void;
  };

/** Opens the data folder's database, migrates it, and builds the services. Throws with what to do when the folder is not usable. */
export function openControl(options: ControlOptions): ControlPlane {
  const core = openCore(options);
  const { store, keys, drains, publisher, records, accessFeed, log } = core;
  try {
    const slices = new Slices(core, SLICES, options);
    store.handleEvents(slices.handlers());
    for (const { kind, drain } of slices.drains()) drains.register(kind, drain);
    const services = servicesOf(slices);
    const retention = new Retention({ store, steps: slices.forgetSteps() });
    return {
      ...core,
      ...services,
      slices,
      bearers: services,
      jobs: [
        ...slices.jobs(),
        { name: 'retention', everyMs: 60_000, run: (stopping) => retention.run(stopping) },
        { name: 'signing keys', everyMs: 600_000, run: () => keys.sweep() },
      ],
      retention,
      link: inProcessLink({ ...services, publisher, keys, records, accessFeed, log }),
      close: () => {
        drains.close();
        core.passwords.close();
        void records.close();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Those that servers and tests ask for by name. */
function servicesOf(slices: Slices): Services {
  return {
    ...slices.use(certificates),
    ...slices.use(organizations),
    ...slices.use(audit),
    ...slices.use(billing),
    ...slices.use(metrics),
    ...slices.use(accessKeys),
    ...slices.use(subdomains),
    ...slices.use(accounts),
    ...slices.use(sessions),
    ...slices.use(cliLogins),
    ...slices.use(oauth),
    ...slices.use(secondFactor),
    ...slices.use(tunnels),
    ...slices.use(accessControl),
    ...slices.use(policies),
    ...slices.use(visitorLogin),
    ...slices.use(narrowing),
    ...slices.use(networks),
    ...slices.use(domains),
    ...slices.use(webhooks),
    ...slices.use(inspector),
    ...slices.use(orgExport),
    ...slices.use(backups),
    ...slices.use(operator),
    ...slices.use(alerts),
    ...slices.use(instance),
    ...slices.use(download),
  };
}
