/**
 * Puts the control plane together: database, keys, services, publisher. Called by server/start.ts, by server/admin.ts and by tests.
 * Opens no socket and starts no timer.
 */
import type { PortRange } from '../base/addr.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Link } from '../plane/link.ts';
import type { Prices } from '../plane/spend.ts';
import { migrate } from './db/migrate.ts';
import { MIGRATIONS } from './db/migrations.gen.ts';
import { isEmpty, openDatabase } from './db/open.ts';
import { Store } from './db/tx.ts';
import { inProcessLink } from './link.ts';
import { Nodes } from './nodes.ts';
import { DnsTxtRecords } from './providers/dns.ts';
import { GithubProvider, type GithubOptions } from './providers/github.ts';
import { OidcProvider, type OidcOptions } from './providers/oidc.ts';
import { Publisher } from './publish/publisher.ts';
import { AccessTokens } from './services/sessions/access-tokens.ts';
import { Accounts } from './services/accounts/accounts.ts';
import type { Billing } from './services/billing/billing.ts';
import { Certificates } from './services/certificates/certificates.ts';
import type { AcmeSetup } from './services/certificates/setup.ts';
import { type BillingOptions, openBilling } from './services/billing/open-billing.ts';
import { Challenges } from './services/sessions/challenges.ts';
import { Claims } from './services/tunnels/claims.ts';
import { Connections } from './services/tunnels/connections.ts';
import { DeviceLogins } from './services/sessions/device-logins.ts';
import { DomainChallenges } from './services/domains/challenges.ts';
import { DomainChecks } from './services/domains/domain-checks.ts';
import { Domains } from './services/domains/domains.ts';
import { EmailCodes } from './services/accounts/email-codes.ts';
import { Events } from './services/events.ts';
import { Invitations } from './services/organizations/invitations.ts';
import { type Keys, loadKeys } from './services/keys/keys.ts';
import { Members } from './services/organizations/members.ts';
import { Mfa } from './services/mfa/mfa.ts';
import { MfaLogin } from './services/mfa/mfa-login.ts';
import { Identities } from './services/accounts/identities.ts';
import { LetterLimit } from './services/mail/letter-limit.ts';
import type { PublicNames } from './services/news.ts';
import type { NewOrgRules } from './services/organizations/organization-rows.ts';
import { OperatorEdge } from './services/operator/operator-edge.ts';
import { OperatorOrgs } from './services/operator/operator-orgs.ts';
import { OperatorTokens } from './services/operator/operator-tokens.ts';
import { OperatorUsers } from './services/operator/operator-users.ts';
import { Organizations } from './services/organizations/organizations.ts';
import { Outbox } from './services/mail/outbox.ts';
import { PasswordReset } from './services/accounts/password-reset.ts';
import { Passwords } from './services/passwords/passwords.ts';
import { Profile } from './services/accounts/profile.ts';
import { ProviderLogins } from './services/accounts/provider-logins.ts';
import { RecoveryCodes } from './services/mfa/recovery-codes.ts';
import { Refresh } from './services/sessions/refresh.ts';
import { Projects } from './services/projects/projects.ts';
import { ReservedSubdomains } from './services/reserved-subdomains/reserved-subdomains.ts';
import { Retention } from './services/retention.ts';
import { makeSealKey, openSealer, type Sealer } from './services/keys/sealing.ts';
import { SessionEnds } from './services/sessions/session-ends.ts';
import { SessionList } from './services/sessions/session-list.ts';
import { Sessions } from './services/sessions/sessions.ts';
import { SignUp } from './services/accounts/sign-up.ts';
import { Spend } from './services/tokens/spend.ts';
import { SignUpMemory } from './services/accounts/sign-up-memory.ts';
import { MasterKeys } from './services/tokens/master-keys.ts';
import { MasterRights } from './services/tokens/master-rights.ts';
import { ProjectTokens } from './services/tokens/project-tokens.ts';
import { Revocations } from './services/tokens/revocations.ts';
import { Rotation } from './services/tokens/rotation.ts';
import { TokenBudgets } from './services/tokens/token-budgets.ts';
import { TokenEnds } from './services/tokens/token-ends.ts';
import { TokenMaker } from './services/tokens/token-maker.ts';
import { Tokens } from './services/tokens/tokens.ts';
import { BasicGates } from './services/tunnels/basic-gates.ts';
import { OwnLabels } from './services/tunnels/own-labels.ts';
import { Policies } from './services/tunnels/policies.ts';
import { Maintenance } from './services/tunnels/maintenance.ts';
import { MaintenanceSwitch } from './services/tunnels/maintenance-switch.ts';
import { RouteMaker } from './services/tunnels/route-maker.ts';
import { Tunnels } from './services/tunnels/tunnels.ts';
import { Metrics } from './services/metrics/metrics.ts';
import { Usage } from './services/tunnels/usage.ts';
import { Mailbox } from './services/webhooks/mailbox.ts';
import { Receivers } from './services/webhooks/receivers.ts';
import { VisitorGates } from './services/tunnels/visitor-gates.ts';
import { VisitorLogins } from './services/visitors/visitor-logins.ts';

export interface ControlOptions {
  readonly dataDir: string;
  readonly tcpPorts: PortRange | null;
  readonly names: PublicNames;
  /** `edge.domain`. */
  readonly edgeDomain: string;
  /** `agents.public_address`, without its port. */
  readonly agentsHost: string;
  /** Where certificates of the edge come from; null unless `edge.tls.mode` is "acme". */
  readonly acme: AcmeSetup | null;
  /** DNS servers that are asked about custom domains (`dns.resolvers`); empty: the system's. */
  readonly dnsResolvers: readonly string[];
  /** May keys of JWTs be fetched from private addresses (`edge.allow_private_jwks`)? */
  readonly allowPrivateJwks: boolean;
  /** What traffic costs (`pricing`). */
  readonly prices: Prices;
  /** How plans change hands (`billing`). */
  readonly billing: BillingOptions;
  /** What a new organization starts with (`plans.default`, `accounts.require_approval`). */
  readonly newOrg: NewOrgRules;
  /** May strangers make accounts (`accounts.signup`)? */
  readonly signup: 'open' | 'closed';
  /** Identity providers that are set up. */
  readonly oauth: { readonly google: OidcOptions | null; readonly github: GithubOptions | null };
  /** Which of them says who visitors of tunnels are (`edge_auth.provider`). */
  readonly visitorProvider: 'google' | 'github';
  /** Public URL of the API; asked at each use, for a listener on port 0 learns its own late. */
  readonly apiUrl: () => string;
  readonly log: Logger;
  readonly clock?: Clock;
}

export interface ControlPlane {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly keys: Keys;
  readonly outbox: Outbox;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly refresh: Refresh;
  readonly sessionList: SessionList;
  readonly signUp: SignUp;
  readonly passwordReset: PasswordReset;
  readonly profile: Profile;
  readonly identities: Identities;
  readonly providerLogins: ProviderLogins;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly mfa: Mfa;
  readonly mfaLogin: MfaLogin;
  readonly events: Events;
  readonly operatorTokens: OperatorTokens;
  readonly operatorUsers: OperatorUsers;
  readonly operatorOrgs: OperatorOrgs;
  readonly operatorEdge: OperatorEdge;
  readonly tokens: Tokens;
  readonly tokenEnds: TokenEnds;
  readonly rotation: Rotation;
  readonly tokenBudgets: TokenBudgets;
  readonly masterKeys: MasterKeys;
  readonly projectTokens: ProjectTokens;
  readonly revocations: Revocations;
  readonly tunnels: Tunnels;
  readonly policies: Policies;
  readonly basicGates: BasicGates;
  readonly visitorGates: VisitorGates;
  readonly visitorLogins: VisitorLogins;
  readonly maintenance: MaintenanceSwitch;
  readonly projects: Projects;
  readonly reservedSubdomains: ReservedSubdomains;
  readonly domains: Domains;
  readonly domainChecks: DomainChecks;
  readonly certificates: Certificates;
  readonly connections: Connections;
  readonly metrics: Metrics;
  readonly receivers: Receivers;
  readonly mailbox: Mailbox;
  readonly billing: Billing;
  readonly deviceLogins: DeviceLogins;
  readonly retention: Retention;
  readonly nodes: Nodes;
  readonly link: Link;
  close(): void;
}

/** Opens the data folder's database, migrates it, and builds the services. Throws with what to do when the folder is not usable. */
export function openControl(options: ControlOptions): ControlPlane {
  const { log, clock = systemClock, names, tcpPorts } = options;
  const sqlite = openDatabase(options.dataDir);
  try {
    // Before the first table: from then on a key that is missing is a key that was lost, and a folder without it is left as it is.
    if (isEmpty(sqlite)) makeSealKey(options.dataDir);
    const sealer = openSealer(options.dataDir);
    migrate(sqlite, {
      dataDir: options.dataDir,
      migrations: MIGRATIONS,
      nowMs: clock.now(),
      log,
    });
    const store = new Store(sqlite, { clock, log });
    const keys = loadKeys(store, sealer);
    const outbox = new Outbox({ sealer, log });
    const nodes = new Nodes();
    const publisher = new Publisher(clock.now());
    keys.onChange(() => publisher.setAccessKeys(keys.accessKeys()));
    const passwords = new Passwords();
    const accessTokens = new AccessTokens({ keys, clock, issuer: options.apiUrl });
    const challenges = new Challenges({ keys, clock, issuer: options.apiUrl, sealer });
    const signUps = new SignUpMemory();
    const spend = new Spend({ prices: options.prices });
    const tokenMaker = new TokenMaker({ keys });
    const tokens = new Tokens({ store, keys, maker: tokenMaker, spend });
    const tokenEnds = new TokenEnds({ store, news: publisher });
    const masterRights = new MasterRights({ billing: options.billing.mode });
    const rotation = new Rotation({ store, maker: tokenMaker, ends: tokenEnds, spend, masterRights });
    const sessionEnds = new SessionEnds({ tokens: tokenEnds });
    // Where sign-up is closed nobody gets a fresh organization by having been sent away from theirs.
    const homeOrg: NewOrgRules =
      options.signup === 'closed' ? { ...options.newOrg, approval: 'pending' } : options.newOrg;
    const sessions = new Sessions({
      store,
      passwords,
      signUps,
      accessTokens,
      challenges,
      sessionEnds,
      newOrg: homeOrg,
    });
    const recoveryCodes = new RecoveryCodes({ sealer });
    const letters = new LetterLimit(clock);
    const accounts = new Accounts({ store, passwords });
    const passwordReset = new PasswordReset({ store, passwords, letters, signUps, outbox, sessionEnds });
    const mfa = new Mfa({ store, sealer, passwords, recoveryCodes, outbox });
    const maintenance = new Maintenance();
    const { edgeDomain, agentsHost, apiUrl, oauth } = options;
    const ownHosts = () => [edgeDomain.toLowerCase(), new URL(apiUrl()).hostname];
    const ownUrls = () => [apiUrl(), oauth.google?.issuer, oauth.github?.authorizeUrl];
    const ownLabels = new OwnLabels({ edgeDomain, agentsHost, urls: ownUrls });
    const routes = new RouteMaker({ names, maintenance, apiUrl: options.apiUrl, ownLabels, ownHosts });
    const providers = {
      google: options.oauth.google === null ? null : new OidcProvider(options.oauth.google, clock),
      github: options.oauth.github === null ? null : new GithubProvider(options.oauth.github),
    };
    // Whom another provider has vouched for is asked again.
    const visitorKey = sealer.derive(`visitor_gates/${options.visitorProvider}/${options.oauth.google?.issuer ?? ''}`);
    const tunnels = new Tunnels({ store, news: publisher, routes, maintenance, nodes, tcpPorts, ownLabels });
    const reservedSubdomains = new ReservedSubdomains({ store, billing: options.billing.mode, ownLabels });
    const records = new DnsTxtRecords(options.dnsResolvers);
    const domains = new Domains({
      store,
      news: publisher,
      routes,
      challenges: new DomainChallenges(records),
      ownHosts,
    });
    const certificates = new Certificates({ store, sealer, acme: options.acme, log });
    const billing = openBilling(options.billing, {
      store,
      keys,
      clock,
      issuer: options.apiUrl,
      apiUrl: options.apiUrl,
      news: publisher,
      routes,
      log,
    });
    const receivers = new Receivers({ store, sealer });
    const claims = new Claims({
      store,
      tokens,
      spend,
      news: publisher,
      routes,
      maintenance,
      nodes,
      tcpPorts,
      ownLabels,
    });
    const maintenanceSwitch = new MaintenanceSwitch({ store, news: publisher, routes, maintenance });
    const usage = new Usage({ store, nodes, spend, maintenance: maintenanceSwitch });
    return {
      store,
      sealer,
      keys,
      outbox,
      accounts,
      sessions,
      refresh: new Refresh({ store, accessTokens, sessionEnds }),
      sessionList: new SessionList({ store, sessionEnds }),
      signUp: new SignUp({
        store,
        passwords,
        codes: new EmailCodes(sealer),
        letters,
        signUps,
        outbox,
        newOrg: options.newOrg,
        signup: options.signup,
      }),
      passwordReset,
      profile: new Profile({ store }),
      identities: new Identities({ store }),
      providerLogins: new ProviderLogins({
        store,
        sealer,
        outbox,
        sessions,
        challenges,
        signUps,
        providers,
        newOrg: homeOrg,
        signup: options.signup,
        apiUrl: options.apiUrl,
        log,
      }),
      organizations: new Organizations({
        store,
        tokens: tokenEnds,
        tunnels,
        reservedSubdomains,
        domains,
        receivers,
        outbox,
        newOrg: options.newOrg,
        billing,
      }),
      members: new Members({ store, tokens: tokenEnds }),
      invitations: new Invitations({ store, outbox, letters }),
      mfa,
      mfaLogin: new MfaLogin({
        store,
        sealer,
        challenges,
        recoveryCodes,
        outbox,
        sessions,
        newOrg: homeOrg,
      }),
      events: new Events({ store }),
      operatorTokens: new OperatorTokens({ sealer, clock }),
      operatorUsers: new OperatorUsers({ store, accounts, passwordReset, mfa, sessionEnds, plan: options.newOrg.plan }),
      operatorOrgs: new OperatorOrgs({ store, news: publisher, routes }),
      operatorEdge: new OperatorEdge({ nodes }),
      tokens,
      tokenEnds,
      rotation,
      tokenBudgets: new TokenBudgets({ store, spend, news: publisher }),
      masterKeys: new MasterKeys({ store, maker: tokenMaker, tokens, rights: masterRights }),
      projectTokens: new ProjectTokens({ store, maker: tokenMaker, ends: tokenEnds, rotation, masterRights }),
      revocations: new Revocations({ store }),
      tunnels,
      policies: new Policies({
        store,
        news: publisher,
        routes,
        keyPlaces: { allowPrivate: options.allowPrivateJwks, ownIssuer: options.apiUrl },
      }),
      basicGates: new BasicGates({ store, news: publisher, routes, passwords }),
      visitorGates: new VisitorGates({
        store,
        news: publisher,
        routes,
        billing: options.billing.mode,
        provider: { id: options.visitorProvider, isSetUp: providers[options.visitorProvider] !== null },
      }),
      visitorLogins: new VisitorLogins({
        store,
        sealer,
        routes,
        edgeDomain: options.edgeDomain,
        provider: providers[options.visitorProvider],
        providerId: options.visitorProvider,
        visitorKey,
        apiUrl: options.apiUrl,
        log,
      }),
      maintenance: maintenanceSwitch,
      projects: new Projects({ store, tokens: tokenEnds, tunnels }),
      reservedSubdomains,
      domains,
      domainChecks: new DomainChecks({ store, news: publisher, routes, records, outbox }),
      certificates,
      connections: new Connections({ store, nodes }),
      metrics: new Metrics({ store }),
      receivers,
      mailbox: new Mailbox({ store, sealer }),
      billing,
      deviceLogins: new DeviceLogins({ store, tokens, tokenEnds, sealer }),
      retention: new Retention({ store }),
      nodes,
      link: inProcessLink({
        publisher,
        tunnels,
        keys,
        claims,
        usage,
        certificates,
        visitorKey: visitorKey.toString('base64url'),
        log,
      }),
      close: () => {
        passwords.close();
        store.close();
      },
    };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}
