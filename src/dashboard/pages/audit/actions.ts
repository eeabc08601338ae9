/** Labels of audit actions; the actor stands beside them. An action of a newer server is shown by its name. Pure. */
import type { Schemas } from '../../api/types.ts';

export type Action = Schemas['AuditEvent']['action'];

/** By subject, for the choice of one. */
export const ACTIONS: Readonly<Record<string, Readonly<Partial<Record<Action, string>>>>> = {
  'Logins and accounts': {
    'auth.signup': 'signed up',
    'auth.email_verify': 'confirmed the email address',
    'auth.login': 'logged in',
    'auth.login_failed': 'failed to log in',
    'auth.logout': 'logged out',
    'auth.refresh_reuse': 'session ended: its cookie was reused',
    'auth.session_revoke': 'ended a session',
    'auth.switch_org': 'switched to another organization',
    'auth.password_forgot': 'requested a password reset',
    'auth.password_reset': 'reset the password by email',
    'auth.password_change': 'changed the password',
    'auth.mfa_enable': 'turned on two-factor authentication',
    'auth.mfa_disable': 'turned off two-factor authentication',
    'auth.mfa_recovery': 'used a recovery code',
    'auth.mfa_recovery_renew': 'created recovery codes',
    'auth.identity_link': 'linked an identity provider',
    'auth.identity_unlink': 'unlinked an identity provider',
    'auth.cli_authorize': 'authorized a CLI',
    'auth.cli_logout': 'logged out a CLI',
  },
  'Accounts by operators': {
    'user.create': 'created an account',
    'user.update': 'changed an account',
    'user.superadmin_grant': 'granted a user the operator role',
    'user.superadmin_revoke': "revoked a user's operator role",
    'user.lock': 'locked an account',
    'user.unlock': 'unlocked an account',
    'user.mfa_reset': "reset a user's two-factor authentication",
    'user.password_reset': "reset a user's password",
    'user.password_link': 'created a link that sets a password',
    'user.sessions_revoke': 'logged a user out everywhere',
  },
  Organization: {
    'org.create': 'created an organization',
    'org.update': 'renamed the organization',
    'org.delete': 'deleted the organization',
    'org.plan': 'changed the plan',
    'org.approve': 'approved the organization',
    'org.export': 'changed the export of the organization',
    'org.suspend': 'suspended the organization',
    'billing.checkout': 'started a checkout',
    'billing.plan': 'plan changed by billing',
    'billing.cancel': 'moved to Free',
  },
  Members: {
    'member.update': "changed a member's role",
    'member.remove': 'removed a member',
    'member.leave': 'left the organization',
    'invitation.create': 'invited a member',
    'invitation.resend': 'resent an invitation',
    'invitation.revoke': 'revoked an invitation',
    'invitation.accept': 'accepted an invitation',
  },
  Tunnels: {
    'tunnel.create': 'created a tunnel',
    'tunnel.start': 'started a tunnel',
    'tunnel.stop': 'stopped a tunnel',
    'tunnel.delete': 'deleted a tunnel',
    'tunnel.expire': 'tunnel expired',
    'tunnel.policy': 'set the policy of a tunnel',
    'tunnel.policy_remove': 'removed the policy of a tunnel',
    'tunnel.inspector': 'set what is recorded of a tunnel',
    'tunnel.auth': 'set a password on a tunnel',
    'tunnel.auth_remove': 'removed the password of a tunnel',
    'tunnel.edge_auth': 'set visitor login on a tunnel',
    'tunnel.edge_auth_remove': 'removed visitor login from a tunnel',
    'tunnel.agent_flags': 'set access control by flags of an agent',
    'tunnel.maintenance': 'started maintenance for a tunnel',
    'tunnel.maintenance_end': 'ended maintenance for a tunnel',
    'connection.disconnect': 'disconnected an agent',
    'inspector.clear': 'cleared recorded requests',
    'inspector.replay': 'replayed a request',
    'inspector.share': 'shared a request by a link',
    'inspector.unshare': 'revoked the link of a request',
  },
  'Keys and projects': {
    'token.mint': 'created a key',
    'token.rotate': 'rotated a key',
    'token.revoke': 'revoked a key',
    'token.budget': 'changed the budget of a key',
    'token.update': 'changed the limits of a key',
    'metric_key.create': 'created a metrics key',
    'metric_key.delete': 'deleted a metrics key',
    'project.create': 'created a project',
    'project.update': 'renamed a project',
    'project.delete': 'deleted a project',
  },
  'Names and domains': {
    'reserved_subdomain.create': 'reserved a name',
    'reserved_subdomain.delete': 'released a reserved name',
    'domain.create': 'added a domain',
    'domain.verify': 'verified a domain',
    'domain.bind': 'bound a domain to a tunnel',
    'domain.unbind': 'unbound a domain',
    'domain.lose': 'domain released: its TXT record was missing',
    'domain.delete': 'deleted a domain',
  },
  'Webhooks and networks': {
    'webhook_receiver.create': 'created a webhook receiver',
    'webhook_receiver.update': 'changed a webhook receiver',
    'webhook_receiver.delete': 'deleted a webhook receiver',
    'webhook_receiver.redeliver': 'redelivered a webhook',
    'webhook_receiver.test': 'sent a test event',
    'network.create': 'created a private network',
    'network.update': 'changed a private network',
    'network.server': 'set the server of a private network',
    'network.delete': 'deleted a private network',
    'network_device.enroll': 'enrolled a device',
    'network_device.update': 'changed a device',
    'network_device.revoke': 'revoked a device',
    'network_device.expire': 'device access expired',
  },
  Alerts: {
    'alert.create': 'created an alert rule',
    'alert.update': 'changed an alert rule',
    'alert.delete': 'deleted an alert rule',
    'alert.test': 'tested an alert rule',
    'alert.confirm_request': 'requested confirmation of an alert address',
    'alert.confirm': 'alert address confirmed',
    'alert.fire': 'alert fired',
    'alert.recover': 'alert recovered',
  },
  Server: {
    'key.rotate': 'rotated a signing key',
    'certificate.renew': 'requested a certificate',
    'backup.create': 'made a backup',
    'backup.fail': 'backup failed',
    'instance.update': 'changed a setting of the server',
    'instance.test': 'tested a setting of the server',
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
