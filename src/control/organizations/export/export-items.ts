/** What is exported, in one form for OTLP and webhooks: a finished request, or an entry of the audit log. Pure. */
import { accessFields } from '../../../plane/access-fields.ts';
import type { AccessEntry } from '../../../plane/access-log.ts';
import type { AuditAction } from '../../core/rules/audit.ts';
import { EXPORT_EVENTS } from '../../db/schema.ts';
import type { EventRow } from '../../audit/service.ts';

export { EXPORT_EVENTS };
export type ExportEvent = (typeof EXPORT_EVENTS)[number];
export type ExportData = Readonly<Record<string, string | number | boolean | null>>;

export interface ExportItem {
  readonly id: string;
  readonly type: 'request' | 'audit' | 'security';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** '' where there is none. */
  readonly traceId: string;
  /** One line for people. */
  readonly text: string;
  /** A request was blocked, or has failed. */
  readonly isWarning: boolean;
  readonly data: ExportData;
}

/** Who may do what, and who tried: the part of the audit log that security tools watch. */
const SECURITY_GROUPS = new Set(['auth', 'user', 'member', 'invitation', 'token', 'metric_key', 'key']);
const SECURITY_ACTIONS: readonly AuditAction[] = [
  'org.delete',
  'org.suspend',
  'org.export',
  'tunnel.policy',
  'tunnel.policy_remove',
  'tunnel.auth',
  'tunnel.auth_remove',
  'tunnel.edge_auth',
  'tunnel.edge_auth_remove',
  'tunnel.agent_flags',
  'webhook_receiver.create',
  'webhook_receiver.update',
  'network_device.enroll',
  'network_device.revoke',
];
const WARNINGS: readonly AuditAction[] = ['auth.login_failed', 'auth.refresh_reuse', 'org.suspend', 'backup.fail'];

/** Null: no export asks for it. Blocked requests are security events too; each request goes out once. */
export function itemOfRequest(entry: AccessEntry, wanted: readonly ExportEvent[]): ExportItem | null {
  const isBlocked = entry.outcome === 'refused';
  const isSecurity = isBlocked && wanted.includes('security');
  if (!isSecurity && !wanted.includes('requests')) return null;
  const { kind, method, target, host, status, code, remoteIp } = entry;
  const what = kind === 'tcp' ? `connection to port ${host}` : `${method} ${host}${target}`;
  const end = code ?? (kind === 'tcp' ? 'closed' : String(status === 0 ? 'no response' : status));
  return {
    id: entry.id,
    type: isSecurity ? 'security' : 'request',
    at: entry.at,
    traceId: entry.traceId,
    text: `${remoteIp} ${what} ${end}`,
    isWarning: isBlocked || entry.outcome === 'failed',
    data: accessFields(entry),
  };
}

/** Null: no export asks for it. `audit` is all of the audit log. */
export function itemOfAudit(row: EventRow, wanted: readonly ExportEvent[]): ExportItem | null {
  const isSecurity = isSecurityAction(row.action);
  if (!wanted.includes('audit') && !(isSecurity && wanted.includes('security'))) return null;
  const details = Object.entries(row.details ?? {}).map(([name, value]) => [`details.${name}`, value] as const);
  const changes = (row.changes ?? []).flatMap(({ field, from, to }) => [
    [`changes.${field}.from`, from] as const,
    [`changes.${field}.to`, to] as const,
  ]);
  return {
    id: row.id,
    type: isSecurity ? 'security' : 'audit',
    at: row.at,
    traceId: '',
    text: `${row.actorLabel} ${row.action} ${row.resourceType} ${row.resourceName ?? row.resourceId}`,
    isWarning: WARNINGS.some((action) => action === row.action),
    data: {
      time: new Date(row.at).toISOString(),
      event_id: row.id,
      org_id: row.orgId,
      action: row.action,
      actor_kind: row.actorKind,
      actor_id: row.actorId,
      actor: row.actorLabel,
      remote_ip: row.ipAddress === '' ? null : row.ipAddress,
      resource_type: row.resourceType,
      resource_id: row.resourceId,
      resource_name: row.resourceName,
      ...Object.fromEntries([...details, ...changes]),
    },
  };
}

function isSecurityAction(action: string): boolean {
  return SECURITY_GROUPS.has(action.split('.', 1)[0] as string) || SECURITY_ACTIONS.some((known) => known === action);
}
