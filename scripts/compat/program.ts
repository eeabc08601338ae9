/** What a file in programs/ says of a program: how it is had and started, what is checked through the tunnel, and what is expected. */
import type { Kit } from './kit.ts';
import type { Tunnel } from './stage.ts';

export interface CompatProgram {
  /** As its makers write it. */
  readonly name: string;
  /** What the check does, for the table. */
  readonly checks: string;
  /** `http` unless given. */
  readonly protocol?: 'http' | 'tcp';
  /** What it needs besides. Undefined: it works untouched. */
  readonly remedy?: Remedy;
  /** Installs and starts it. @throws NotHere */
  start(kit: Kit): Promise<Started>;
}

export interface Remedy {
  /** For the table: flags of the agent as a user types them, or a setting of the program. */
  readonly name: string;
  /** Whether the name is flags; else `Started.configuredPort` has the program with the setting. */
  readonly isFlag: boolean;
  /** What the agent prints, once, when the program refuses the untouched visit. Undefined: the refusal does not show what it is. */
  readonly advice?: RegExp;
}

export interface Started {
  readonly version: string;
  readonly port: number;
  readonly configuredPort?: number;
  /** Uses the program through the tunnel. @throws when it does not work as on its own port */
  check(tunnel: Tunnel): Promise<void>;
}

/** The flag for services that refuse a foreign Host. */
export const REWRITE: Remedy = {
  name: '--host-header rewrite',
  isFlag: true,
  advice: /try --host-header rewrite/,
};

/** The program, or what it needs, can't be had on this machine. */
export class NotHere extends Error {}
