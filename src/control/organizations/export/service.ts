/**
 * What an organization sends to a collector or a webhook of its own, as its admins set it. Secrets go in and never come out; a destination that is
 * changed needs them anew, so that no admin can have them sent elsewhere.
 */
import { AppError } from '../../../base/errors.ts';
import { type PostRules, urlProblem } from '../../../base/net/outbound/guarded-post.ts';
import { isSigningSecret, newSigningSecret } from '../../../signatures/sign.ts';
import { type Actor, allow, can, type UserActor } from '../../core/rules/actor.ts';
import { type AuditChange, changesBetween, partlySecretChange, secretChange } from '../../core/rules/audit-changes.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { Publisher } from '../../core/link/publisher.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { actorIn } from '../membership-rows.ts';
import type { ExportEvent } from './export-items.ts';
import type { Exporter, ExportStatus } from './exporter.ts';
import { deleteExports, type ExportRow, findExport, lastAuditId, putExport } from './rows.ts';
import { headerNames, type Headers, sealHeaders, sealSecret } from './secrets.ts';

const MAX_HEADERS = 20;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e\t]{0,4094}[\x21-\x7e])?$/;
/** What frames the request, or is said by the server. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding', 'expect']);

export interface ExportInput {
  readonly events: readonly ExportEvent[];
  /** `headers` left out: as they are, while the endpoint is. */
  readonly otlp: { readonly endpoint: string; readonly headers?: Headers | undefined } | null;
  /** `secret` left out: as it is, while the URL is; else a new one. */
  readonly webhook: { readonly url: string; readonly secret?: string | undefined } | null;
}

export interface ExportView {
  readonly events: readonly ExportEvent[];
  readonly otlp: { readonly endpoint: string; readonly headers: readonly string[] } | null;
  /** `newSecret`: made by this change, shown once. */
  readonly webhook: { readonly url: string; readonly newSecret: string | null } | null;
  readonly status: ExportStatus;
  readonly updatedAt: number | null;
}

export interface ExportsDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly exporter: Exporter;
  readonly publisher: Pick<Publisher, 'setExportingOrgs'>;
  readonly postRules: PostRules;
}

export class Exports {
  readonly #deps: ExportsDeps;

  constructor(deps: ExportsDeps) {
    this.#deps = deps;
  }

  /** Throws `not_found`. */
  get(actor: Actor, orgId: string): ExportView {
    const me = actorIn(this.#deps.store.db, actor, orgId);
    allow(me, 'read', 'organization');
    const view = this.#view(me.orgId);
    return can(me, 'change', 'organization') ? view : withoutPaths(view);
  }

  /** Replaces all of it. Throws `not_found`, `forbidden`, `invalid_request`. */
  put(actor: Actor, orgId: string, input: ExportInput): ExportView {
    this.#check(input);
    const { store, exporter } = this.#deps;
    const { row, newSecret } = store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'change', 'organization');
      const before = findExport(tx.db, me.orgId);
      const made = this.#rowOf(tx, me, input);
      putExport(tx, made.row);
      recordAudit(tx, me, {
        action: 'org.export',
        resourceType: 'organization',
        resourceId: me.orgId,
        details: {
          events: input.events.join(', '),
          otlp: input.otlp === null ? null : new URL(input.otlp.endpoint).origin,
          webhook: input.webhook === null ? null : new URL(input.webhook.url).origin,
        },
        changes: [
          ...changesOf(before, made.row),
          ...(input.otlp?.headers === undefined ? [] : [secretChange('otlp.headers')]),
          ...(input.webhook?.secret === undefined && made.newSecret === null ? [] : [secretChange('webhook.secret')]),
        ],
      });
      tx.onCommit(() => {
        exporter.set(made.row);
        this.#announce();
      });
      return made;
    });
    return { ...this.#viewOf(row, newSecret), status: exporter.status(row.orgId) };
  }

  /** Organizations whose requests data nodes report. */
  exportingOrgs(): readonly string[] {
    return this.#deps.exporter.exportingOrgs();
  }

  /** Organizations are gone, and their exports with them. */
  forget(tx: Tx, orgIds: readonly string[]): void {
    if (deleteExports(tx, orgIds) === 0) return;
    tx.onCommit(() => {
      for (const orgId of orgIds) this.#deps.exporter.remove(orgId);
      this.#announce();
    });
  }

  #announce(): void {
    this.#deps.publisher.setExportingOrgs(this.exportingOrgs());
  }

  #view(orgId: string): ExportView {
    const { store, exporter } = this.#deps;
    const row = findExport(store.db, orgId);
    const status = exporter.status(orgId);
    if (row === undefined) return { events: [], otlp: null, webhook: null, status, updatedAt: null };
    return { ...this.#viewOf(row, null), status };
  }

  #viewOf(row: ExportRow, newSecret: string | null): Omit<ExportView, 'status'> {
    const { otlpEndpoint, webhookUrl } = row;
    const headers = headerNames(this.#deps.sealer, row);
    return {
      events: row.events,
      otlp: otlpEndpoint === null ? null : { endpoint: otlpEndpoint, headers },
      webhook: webhookUrl === null ? null : { url: webhookUrl, newSecret },
      updatedAt: row.updatedAt,
    };
  }

  #rowOf(tx: Tx, { orgId }: UserActor, { events, otlp, webhook }: ExportInput) {
    const { sealer } = this.#deps;
    const before = findExport(tx.db, orgId);
    const keepsHeaders = otlp !== null && otlp.headers === undefined && otlp.endpoint === before?.otlpEndpoint;
    const keepsSecret = webhook !== null && webhook.secret === undefined && webhook.url === before?.webhookUrl;
    const newSecret = webhook !== null && webhook.secret === undefined && !keepsSecret ? newSigningSecret() : null;
    const secret = webhook?.secret ?? newSecret;
    const row: ExportRow = {
      orgId,
      events: [...new Set(events)],
      otlpEndpoint: otlp?.endpoint ?? null,
      sealedHeaders: keepsHeaders ? before.sealedHeaders : sealHeaders(sealer, orgId, otlp?.headers ?? {}),
      webhookUrl: webhook?.url ?? null,
      sealedSecret: keepsSecret ? before.sealedSecret : secret === null ? null : sealSecret(sealer, orgId, secret),
      // From now on: what the audit log holds already is not exported.
      auditCursor: before?.auditCursor ?? lastAuditId(tx.db),
      updatedAt: tx.now,
    };
    return { row, newSecret };
  }

  #check({ otlp, webhook }: ExportInput): void {
    if (otlp !== null) {
      checkUrl('otlp.endpoint', otlp.endpoint, this.#deps.postRules);
      checkHeaders(otlp.headers ?? {});
    }
    if (webhook === null) return;
    checkUrl('webhook.url', webhook.url, this.#deps.postRules);
    if (webhook.secret !== undefined && !isSigningSecret(webhook.secret))
      throw invalid('webhook.secret', 'must be whsec_ and base64 of 24 to 64 bytes, or left out for a new one');
  }
}

/** A path may be a secret: of some services it is all that a sender needs. */
function withoutPaths({ otlp, webhook, ...view }: ExportView): ExportView {
  const place = (url: string): string => `${new URL(url).origin}/…`;
  return {
    ...view,
    otlp: otlp === null ? null : { ...otlp, endpoint: place(otlp.endpoint) },
    webhook: webhook === null ? null : { ...webhook, url: place(webhook.url) },
  };
}

function checkUrl(field: string, url: string, rules: PostRules): void {
  const problem = urlProblem(url, rules);
  if (problem !== null) throw invalid(field, problem);
}

function checkHeaders(headers: Headers): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw invalid('otlp.headers', `has more than ${MAX_HEADERS} headers`);
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      throw invalid('otlp.headers', `can't have the header ${JSON.stringify(name.slice(0, 100))}`);
    if (!HEADER_VALUE.test(value))
      throw invalid('otlp.headers', `has a value for ${name} that is empty, too long or not printable ASCII`);
  }
}

function invalid(field: string, problem: string): AppError {
  return new AppError('invalid_request', `${field} ${problem}.`, {
    details: [{ path: field, message: `${field} ${problem}.` }],
  });
}

/** For the audit log: paths and queries of URLs may hold a secret. */
function changesOf(before: ExportRow | undefined, after: ExportRow): readonly AuditChange[] {
  const originOf = (url: string): string => new URL(url).origin;
  return [
    ...changesBetween({ events: before?.events }, { events: after.events }),
    ...partlySecretChange('otlp.endpoint', [before?.otlpEndpoint ?? null, after.otlpEndpoint], originOf),
    ...partlySecretChange('webhook.url', [before?.webhookUrl ?? null, after.webhookUrl], originOf),
  ];
}
