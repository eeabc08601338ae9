/**
 * Settings that operators may change while the server runs: those of the file, and those of the database where the file leaves a key out. Features read
 * `now` at each use. Written by operator/instance alone.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { instanceSettings } from '../db/schema.ts';
import type { Db, Store } from '../db/tx.ts';
import { type GithubOptions, GithubProvider } from '../providers/github.ts';
import { type OidcOptions, OidcProvider } from '../providers/oidc.ts';
import type { SmtpOptions } from '../providers/smtp.ts';
import type { Approval } from './rules/actor.ts';
import type { Plan } from './rules/plans.ts';
import type { Sealer } from './secrets/sealing.ts';

export type MailSettings = { readonly transport: 'log' } | ({ readonly transport: 'smtp' } & SmtpOptions);

/** What a new organization starts with. */
interface NewOrg {
  readonly plan: Plan;
  readonly approval: Approval;
}

export interface InstanceSettings {
  /** What the operator calls this server (`server.name`); null: nothing. */
  readonly name: string | null;
  /** May strangers make accounts (`accounts.signup`)? */
  readonly signup: 'open' | 'closed';
  /** `plans.default`, `accounts.require_approval`. */
  readonly newOrg: NewOrg;
  /** Identity providers that are set up. */
  readonly oauth: { readonly google: OidcOptions | null; readonly github: GithubOptions | null };
  readonly mail: MailSettings;
}

export type InstanceValue = string | boolean;
export type InstanceValues = ReadonlyMap<string, InstanceValue>;

/** A key of the settings file that may be set in the dashboard. */
export interface InstanceField {
  /** As in the file, dotted. */
  readonly key: string;
  readonly isSecret: boolean;
  /** The file sets it, and wins. */
  readonly inFile: boolean;
}

/** What holds with some values of the database. */
export interface InstanceReading {
  readonly settings: InstanceSettings;
  /** What holds, by key; null: not set. Of secrets only what is none, such as the host of a URL. */
  readonly shown: ReadonlyMap<string, InstanceValue | null>;
  /** Secrets that are set. */
  readonly secrets: ReadonlySet<string>;
  /** Values that do not fit, and so do not count. `key` may be one that a value needs beside it. */
  readonly wrong: ReadonlyArray<{ readonly key: string; readonly text: string }>;
}

/** The settings file, as far as operators may add to it. */
export interface InstanceSource {
  readonly fields: readonly InstanceField[];
  read(values: InstanceValues): InstanceReading;
}

export interface InstanceOptions extends Omit<InstanceSettings, 'name' | 'mail'> {
  readonly mail?: MailSettings;
  /** Without it nothing can be changed while the server runs. */
  readonly instance?: InstanceSource;
}

interface Deps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Instance {
  readonly source: InstanceSource;
  readonly #deps: Deps;
  readonly #listeners: Array<() => void> = [];
  #reading: InstanceReading;
  #unreadable: ReadonlySet<string> = new Set();
  #providers: { readonly google: OidcProvider | null; readonly github: GithubProvider | null };

  constructor(options: InstanceOptions, deps: Deps) {
    this.source = options.instance ?? fixed(options);
    this.#deps = deps;
    this.#reading = this.#read();
    this.#providers = this.#makeProviders();
  }

  get now(): InstanceSettings {
    return this.#reading.settings;
  }

  get reading(): InstanceReading {
    return this.#reading;
  }

  /** What a new organization starts with. Its fields change with the settings. */
  readonly newOrg: NewOrg = live({ plan: () => this.now.newOrg.plan, approval: () => this.now.newOrg.approval });

  /** The same of one that is made for an account without any. Where sign-up is closed, a removed member gets none that may begin at once. */
  readonly homeOrg: NewOrg = live({
    plan: () => this.now.newOrg.plan,
    approval: () => (this.now.signup === 'closed' ? 'pending' : this.now.newOrg.approval),
  });

  /** Identity providers. Its fields change with the settings. */
  readonly providers: { readonly google: OidcProvider | null; readonly github: GithubProvider | null } = live({
    google: () => this.#providers.google,
    github: () => this.#providers.github,
  });

  /** Values of the database, secrets in clear, without those that can't be read. */
  stored(db: Db = this.#deps.store.db): Map<string, InstanceValue> {
    return this.#storedAnd(db).values;
  }

  /** Secrets of the database that can't be decrypted, by key: they are ignored. */
  get unreadable(): ReadonlySet<string> {
    return this.#unreadable;
  }

  #storedAnd(db: Db) {
    const values = new Map<string, InstanceValue>();
    const unreadable = new Map<string, string>();
    for (const { key, value, sealedValue } of db.select().from(instanceSettings).all()) {
      if (sealedValue === null) {
        if (value !== null) values.set(key, value);
        continue;
      }
      try {
        values.set(key, this.#deps.sealer.open(sealPurpose(key), sealedValue).toString());
      } catch (error) {
        unreadable.set(key, messageOf(error));
      }
    }
    return { values, unreadable };
  }

  /** Takes over what is in the database. To be called behind each change of it, once that is committed. */
  reload(): void {
    this.#reading = this.#read();
    this.#providers = this.#makeProviders();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` behind each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #read(): InstanceReading {
    const { values, unreadable } = this.#storedAnd(this.#deps.store.db);
    this.#unreadable = new Set(unreadable.keys());
    for (const [key, reason] of unreadable)
      this.#deps.log.error(
        { key, reason },
        `${key} can't be decrypted and is ignored: enter it again in the dashboard (Operator, Instance), or restore the seal.key of this database`,
      );
    const reading = this.source.read(values);
    for (const { key, text } of reading.wrong)
      this.#deps.log.error(
        { key, reason: text },
        'a setting of the database does not fit the settings file: it is left out',
      );
    return reading;
  }

  #makeProviders() {
    const { google, github } = this.now.oauth;
    return {
      google: google === null ? null : new OidcProvider(google, this.#deps.clock),
      github: github === null ? null : new GithubProvider(github),
    };
  }
}

/** What the value of a key is sealed for. */
export function sealPurpose(key: string): string {
  return `instance_settings/${key}`;
}

function fixed({ signup, newOrg, oauth, mail = { transport: 'log' } }: InstanceOptions): InstanceSource {
  const settings: InstanceSettings = { name: null, signup, newOrg, oauth, mail };
  return { fields: [], read: () => ({ settings, shown: new Map(), secrets: new Set(), wrong: [] }) };
}

/** An object whose fields are read anew at each use. */
function live<T extends object>(fields: { readonly [Key in keyof T]: () => T[Key] }): Readonly<T> {
  const out = {};
  for (const [key, get] of Object.entries(fields))
    Object.defineProperty(out, key, { get: get as () => unknown, enumerable: true });
  return out as Readonly<T>;
}
