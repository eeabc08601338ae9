/**
 * What operators set in the dashboard. The settings file wins: a key that it sets can't be changed here. Secrets go in, and never come out: where one
 * is sent can be changed by those alone who know it.
 */
import { count, eq, inArray } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import {
  type Instance,
  type InstanceReading,
  type InstanceValue,
  type InstanceValues,
  sealPurpose,
} from '../../core/instance.ts';
import { type Actor, allowOperator, asOperator, type OperatorActor } from '../../core/rules/actor.ts';
import { changesBetween, secretChange } from '../../core/rules/audit-changes.ts';
import { recordAll } from '../../core/rules/audit.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { instanceSettings, users } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';

/** Null: the key goes back to its default. */
export type InstanceChanges = Readonly<Record<string, InstanceValue | null>>;

export interface SettingView {
  readonly key: string;
  /** Null: not set, or a secret. */
  readonly value: InstanceValue | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  readonly source: 'file' | 'dashboard' | 'default';
  /** The key of the file that keeps this one as it is; null: it may be changed. */
  readonly lockedBy: string | null;
  /** What takes it over at the next start of the server; null: all of it holds at once. */
  readonly restartFor: 'visitor_login' | null;
}

export interface InstanceView {
  readonly settings: readonly SettingView[];
  /** Nothing was set yet, and there is one account. */
  readonly isFirstRun: boolean;
  readonly sendsMail: boolean;
  /** A change waits for the next start. */
  readonly needsRestart: boolean;
}

/** Where a secret is sent. */
const DESTINATIONS: Readonly<Record<string, readonly string[]>> = {
  'oauth.google.client_secret': ['oauth.google.issuer'],
  'oauth.github.client_secret': ['oauth.github.authorize_url', 'oauth.github.token_url', 'oauth.github.api_url'],
};
/** Of no setting: the questions of the first run were answered, or put off. */
const FIRST_RUN_DONE = 'first_run.done';

interface Deps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly instance: Instance;
  readonly visitorProvider: 'google' | 'github';
}

export class InstanceService {
  readonly #deps: Deps;
  /** What visitor login began with. */
  readonly #started: string;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#started = this.#visitorLogin();
  }

  view(actor: Actor): InstanceView {
    allowOperator(actor);
    const { store, instance } = this.#deps;
    const stored = instance.stored();
    return {
      settings: instance.source.fields.map(({ key, isSecret, inFile }) => {
        const value = instance.reading.shown.get(key) ?? null;
        return {
          key,
          value,
          isSecret,
          isSet: isSecret ? instance.reading.secrets.has(key) : value !== null,
          source: inFile ? 'file' : stored.has(key) ? 'dashboard' : 'default',
          lockedBy: this.#lockOf(key),
          restartFor: key.startsWith(`oauth.${this.#deps.visitorProvider}.`) ? 'visitor_login' : null,
        };
      }),
      isFirstRun: isFirstRun(store.db),
      sendsMail: instance.now.mail.transport !== 'log',
      needsRestart: this.#visitorLogin() !== this.#started,
    };
  }

  /** Throws `invalid_request` for what does not fit, `conflict` for a key that the file keeps as it is. */
  update(actor: Actor, changes: InstanceChanges): InstanceView {
    const operator = asOperator(actor);
    const { store, instance } = this.#deps;
    store.inTx((tx) => {
      const before = instance.stored(tx.db);
      const { values, reading } = this.#merge(before, changes);
      const changed = Object.keys(changes).filter(
        (key) => before.get(key) !== values.get(key) || instance.unreadable.has(key),
      );
      this.#write(tx, values, changed);
      this.#record(tx, operator, { changed, before, values, reading });
      tx.onCommit(() => instance.reload());
    });
    return this.view(actor);
  }

  /** What would hold with these changes. Throws as `update` does. */
  preview(actor: Actor, changes: InstanceChanges): InstanceReading {
    allowOperator(actor);
    return this.#merge(this.#deps.instance.stored(), changes).reading;
  }

  #merge(before: InstanceValues, changes: InstanceChanges) {
    const { instance } = this.#deps;
    const values = new Map(before);
    for (const [key, value] of Object.entries(changes)) {
      if (!instance.source.fields.some((field) => field.key === key))
        throw refused(key, 'is not a setting that can be changed here');
      const lock = this.#lockOf(key);
      if (lock !== null) {
        throw new AppError(
          'conflict',
          lock === key
            ? `${key} is set in the settings file. Change it there, then restart the server.`
            : `${key} can't be changed here: ${lock} of the settings file would be sent to another server. Set both there, then restart the server.`,
        );
      }
      if (value === null || value === '') values.delete(key);
      else values.set(key, value);
    }
    const reading = instance.source.read(values);
    // What was wrong before keeps no other setting from being changed.
    const known = new Set(instance.reading.wrong.map(({ key }) => key));
    const touched = new Set(Object.keys(changes).map(tableOf));
    const news = reading.wrong.filter(({ key }) => !known.has(key) || touched.has(tableOf(key)));
    const [wrong] = news;
    if (wrong !== undefined) {
      const details = news.map(({ key, text }) => ({ path: `settings.${key}`, message: text }));
      throw new AppError('invalid_request', `${wrong.key}: ${wrong.text}`, { details });
    }
    this.#keepSecrets(changes, reading);
    return { values, reading };
  }

  /** A secret that is kept goes where it went. */
  #keepSecrets(changes: InstanceChanges, next: InstanceReading): void {
    const now = this.#deps.instance.reading;
    for (const [secret, places] of Object.entries(DESTINATIONS)) {
      if (!now.secrets.has(secret) || !next.secrets.has(secret) || typeof changes[secret] === 'string') continue;
      const moved = places.find((key) => now.shown.get(key) !== next.shown.get(key));
      if (moved !== undefined)
        throw refused(secret, `enter it again: with another ${moved} it is sent to another server`);
    }
  }

  #lockOf(key: string): string | null {
    const isInFile = (one: string): boolean =>
      this.#deps.instance.source.fields.some((field) => field.key === one && field.inFile);
    if (isInFile(key)) return key;
    const secret = Object.entries(DESTINATIONS).find(([, places]) => places.includes(key))?.[0];
    return secret !== undefined && isInFile(secret) ? secret : null;
  }

  #write(tx: Tx, values: InstanceValues, changed: readonly string[]): void {
    const { sealer, instance } = this.#deps;
    if (changed.length > 0)
      tx.db
        .delete(instanceSettings)
        .where(inArray(instanceSettings.key, [...changed]))
        .run();
    for (const key of changed) {
      const value = values.get(key);
      if (value === undefined) continue;
      const isSecret = instance.source.fields.some((field) => field.key === key && field.isSecret);
      const sealedValue = isSecret ? sealer.seal(sealPurpose(key), Buffer.from(String(value))) : null;
      tx.db
        .insert(instanceSettings)
        .values({ key, value: isSecret ? null : value, sealedValue, updatedAt: tx.now })
        .run();
    }
    tx.db
      .insert(instanceSettings)
      .values({ key: FIRST_RUN_DONE, value: true, updatedAt: tx.now })
      .onConflictDoNothing()
      .run();
  }

  #record(tx: Tx, operator: OperatorActor, { changed, before, values, reading }: Change): void {
    const { instance } = this.#deps;
    recordAll(
      tx,
      operator,
      changed.map((key) => ({
        action: 'instance.update',
        resourceType: 'setting',
        resourceId: key,
        changes: instance.source.fields.some((field) => field.key === key && field.isSecret)
          ? [secretChange(key, values.has(key) ? (before.has(key) ? 'changed' : 'set') : 'removed')]
          : changesBetween({ [key]: shownIn(instance.reading, key) }, { [key]: shownIn(reading, key) }),
      })),
    );
  }

  #visitorLogin(): string {
    const { google, github } = this.#deps.instance.now.oauth;
    const of = this.#deps.visitorProvider === 'google' ? google : github;
    return JSON.stringify(of === null ? null : { ...of, clientSecret: of.clientSecret.reveal() });
  }
}

interface Change {
  readonly changed: readonly string[];
  readonly before: InstanceValues;
  readonly values: InstanceValues;
  readonly reading: InstanceReading;
}

/** The part of a key before its last dot. */
function tableOf(key: string): string {
  return key.slice(0, key.lastIndexOf('.'));
}

function refused(key: string, text: string): AppError {
  return new AppError('invalid_request', `${key}: ${text}`, { details: [{ path: `settings.${key}`, message: text }] });
}

function isFirstRun(db: Db): boolean {
  const done = db.select().from(instanceSettings).where(eq(instanceSettings.key, FIRST_RUN_DONE)).get();
  return done === undefined && (db.select({ n: count() }).from(users).get()?.n ?? 0) <= 1;
}

function shownIn(reading: InstanceReading, key: string): string | number | boolean | null {
  return reading.shown.get(key) ?? null;
}
