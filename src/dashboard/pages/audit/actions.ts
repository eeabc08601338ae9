/** Labels of audit actions; the actor stands beside them. An action of a newer server is shown by its name. Pure. */
import type { Schemas } from '../../api/types.ts';

export type Action = Schemas['AuditEvent']['action'];

/** By subject, for the choice of one. */
export const ACTIONS: Readonly<Record<string, Readonly<Partial<Record<Action, string>>>>> = {
  'Logins and accounts': {
    'auth.signup': 'signed up',
    'auth.email_verify': 'confirmed the e-mail address',
    'auth.login': 'logged in',
    'auth.login_failed': 'failed to log in',
    'auth.logout': 'logged out',
    'auth.refresh_reuse': 'a session was ended, for its cookie came twice',
    'auth.session_revoke': 'ended a session',
    'auth.switch_org': 'switched to another organization',
    'auth.password_forgot': 'asked for a new password',
    'auth.password_reset': 'set a new password by mail',
    'auth.password_change': 'changed the password',
    'auth.mfa_enable': 'turned the second factor on',
    'auth.mfa_disable': 'turned the second factor off',
    'auth.mfa_recovery': 'used a recovery code',
    'auth.mfa_recovery_renew': 'made new recovery codes',
    'auth.identity_link': 'connected an identity provider',
    'auth.identity_unlink': 'disconnected an identity provider',
    'auth.cli_authorize': 'let a command line in',
    'auth.cli_logout': 'logged a command line out',
  },
  'Accounts by operators': {
    'user.create': 'made an account',
    'user.update': 'changed an account',
    'user.superadmin_grant': 'made a user an operator',
    'user.superadmin_revoke': 'removed a user as operator',
    'user.lock': 'locked an account',
    'user.unlock': 'unlocked an account',
    'user.mfa_reset': "reset a user's second factor",
    'user.password_reset': "reset a user's password",
    'user.sessions_revoke': 'logged a user out everywhere',
  },
  Organization: {
    'org.create': 'made an organization',
    'org.update': 'renamed the organization',
    'org.delete': 'deleted the organization',
    'org.plan': 'changed the plan',
    'org.approve': 'approved the organization',
    'org.suspend': 'suspended the organization',
    'billing.checkout': 'began a purchase',
    'billing.plan': 'the plan was changed by billing',
    'billing.cancel': 'went back to Free',
  },
  Members: {
    'member.update': "changed a member's role",
    'member.remove': 'removed a member',
    'member.leave': 'left the organization',
    'invitation.create': 'invited a member',
    'invitation.resend': 'sent an invitation again',
    'invitation.revoke': 'revoked an invitation',
    'invitation.accept': 'accepted an invitation',
  },
  Tunnels: {
    'tunnel.create': 'made a tunnel',
    'tunnel.start': 'started a tunnel',
    'tunnel.stop': 'stopped a tunnel',
    'tunnel.delete': 'deleted a tunnel',
    'tunnel.expire': 'a tunnel has expired',
    'tunnel.policy': 'set the policy of a tunnel',
    'tunnel.policy_remove': 'removed the policy of a tunnel',
    'tunnel.auth': 'set a password on a tunnel',
    'tunnel.auth_remove': 'removed the password of a tunnel',
    'tunnel.edge_auth': 'had visitors of a tunnel sign in',
    'tunnel.edge_auth_remove': 'removed visitor login of a tunnel',
    'tunnel.maintenance': 'put a tunnel into maintenance',
    'tunnel.maintenance_end': 'ended the maintenance of a tunnel',
    'connection.disconnect': 'ended the connection of an agent',
    'inspector.clear': 'cleared recorded requests',
    'inspector.replay': 'sent a recorded request again',
  },
  'Keys and projects': {
    'token.mint': 'made a key',
    'token.rotate': 'rotated a key',
    'token.revoke': 'revoked a key',
    'token.budget': 'changed the budget of a key',
    'metric_key.create': 'created a metrics key',
    'metric_key.delete': 'deleted a metrics key',
    'project.create': 'made a project',
    'project.update': 'renamed a project',
    'project.delete': 'deleted a project',
  },
  'Names and domains': {
    'reserved_subdomain.create': 'reserved a name',
    'reserved_subdomain.delete': 'gave a reserved name back',
    'domain.create': 'added a domain',
    'domain.verify': 'verified a domain',
    'domain.bind': 'bound a domain to a tunnel',
    'domain.unbind': 'unbound a domain',
    'domain.lose': 'a domain was lost to its owner',
    'domain.delete': 'deleted a domain',
  },
  'Webhooks and networks': {
    'webhook_receiver.create': 'made a webhook receiver',
    'webhook_receiver.update': 'changed a webhook receiver',
    'webhook_receiver.delete': 'deleted a webhook receiver',
    'webhook_receiver.redeliver': 'sent a webhook once more',
    'network.create': 'made a private network',
    'network.update': 'changed a private network',
    'network.server': 'set the server of a private network',
    'network.delete': 'deleted a private network',
    'network_device.enroll': 'enrolled a device',
    'network_device.update': 'changed a device',
    'network_device.revoke': 'removed a device',
    'network_device.expire': 'a device has expired',
  },
  Server: {
    'key.rotate': 'rotated a signing key',
    'certificate.renew': 'asked for a certificate',
  },
};

const WORDS: ReadonlyMap<string, string> = new Map(Object.values(ACTIONS).flatMap((group) => Object.entries(group)));

export function actionWords(action: string): string {
  return WORDS.get(action) ?? action;
}

/** For a choice of one action: the groups with their actions in words. */
export function actionChoices(): Array<{ group: string; items: Array<{ value: string; label: string }> }> {
  return Object.entries(ACTIONS).map(([group, actions]) => ({
    group,
    items: Object.entries(actions).map(([value, label]) => ({ value, label })),
  }));
}
