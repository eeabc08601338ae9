/**
 * The services of people: accounts, sessions, organizations and who runs the server. Opened by control/open.ts, after what organizations own.
 */
import type { Core } from './core.ts';
import type { NetworkServices } from './networks.ts';
import type { TunnelServices } from './tunnels.ts';
import { Accounts } from '../auth/accounts/service.ts';
import { EmailCodes } from '../auth/accounts/email-codes.ts';
import { Identities } from '../auth/oauth/identities.ts';
import { PasswordReset } from '../auth/accounts/password-reset.ts';
import { Profile } from '../auth/accounts/profile.ts';
import { ProviderLogins } from '../auth/oauth/provider-logins.ts';
import { SignUpMemory } from '../auth/accounts/sign-up-memory.ts';
import { SignUp } from '../auth/accounts/sign-up.ts';
import { Events } from '../audit/service.ts';
import { EmailLimit } from '../core/mail/email-limit.ts';
import { MfaLogin } from '../auth/mfa/login.ts';
import { Mfa } from '../auth/mfa/service.ts';
import { RecoveryCodes } from '../auth/mfa/recovery-codes.ts';
import { OperatorEdge } from '../operator/edge.ts';
import { OperatorOrgs } from '../operator/organizations.ts';
import { OperatorTokens } from '../operator/admin-tokens.ts';
import { OperatorUsers } from '../operator/users.ts';
import { Invitations } from '../organizations/invitations.ts';
import { Members } from '../organizations/members.ts';
import type { NewOrgRules } from '../organizations/rows.ts';
import { Organizations } from '../organizations/service.ts';
import { AccessTokens } from '../auth/sessions/access-tokens.ts';
import { Refresh } from '../auth/sessions/refresh.ts';
import { SessionEnds } from '../auth/sessions/ends.ts';
import { SessionList } from '../auth/sessions/list.ts';
import { Sessions } from '../auth/sessions/service.ts';
import type { TokenEnds } from '../access-keys/ends.ts';

export interface PeopleServices {
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
}

interface PeopleDeps {
  readonly tokenEnds: TokenEnds;
  /** What an organization owns, and takes along when it is deleted. */
  readonly owned: Pick<TunnelServices, 'tunnels'> & Pick<NetworkServices, 'networks'>;
}

export function openPeople(core: Core, { tokenEnds, owned }: PeopleDeps): PeopleServices {
  const {
    options,
    store,
    sealer,
    keys,
    outbox,
    passwords,
    challenges,
    clock,
    log,
    publisher: routeEvents,
    routes,
  } = core;
  const { apiUrl, newOrg, signup } = options;
  const accessTokens = new AccessTokens({ keys, clock, issuer: apiUrl });
  const signUps = new SignUpMemory();
  const sessionEnds = new SessionEnds({ tokens: tokenEnds });
  // Where sign-up is closed, a removed member gets no new organization.
  const homeOrg: NewOrgRules = signup === 'closed' ? { ...newOrg, approval: 'pending' } : newOrg;
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
  const emailLimit = new EmailLimit(clock);
  const accounts = new Accounts({ store, passwords });
  const passwordReset = new PasswordReset({ store, passwords, emailLimit, signUps, outbox, sessionEnds });
  const mfa = new Mfa({ store, sealer, passwords, recoveryCodes, outbox });
  return {
    accounts,
    sessions,
    refresh: new Refresh({ store, sealer, accessTokens, sessionEnds }),
    sessionList: new SessionList({ store, sessionEnds }),
    signUp: new SignUp({
      store,
      passwords,
      codes: new EmailCodes(sealer),
      emailLimit,
      signUps,
      outbox,
      newOrg,
      signup,
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
      providers: core.providers,
      newOrg: homeOrg,
      signup,
      apiUrl,
      log,
    }),
    organizations: new Organizations({
      store,
      tokens: tokenEnds,
      ...owned,
      drains: core.drains,
      records: core.records,
      outbox,
      newOrg,
      billing: core.billing,
    }),
    members: new Members({ store, tokens: tokenEnds }),
    invitations: new Invitations({ store, outbox, emailLimit }),
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
    operatorUsers: new OperatorUsers({ store, accounts, passwordReset, mfa, sessionEnds, plan: newOrg.plan }),
    operatorOrgs: new OperatorOrgs({ store, routeEvents, routes, drains: core.drains }),
    operatorEdge: new OperatorEdge({ nodes: core.nodes }),
  };
}
