/**
 * A user with a password, a session and an authenticator app, at the API of a Plane.
 */
import assert from 'node:assert/strict';
import { codeAt, wrongCode } from '../../../../test/harness/authenticator.ts';
import type { Answer } from '../../core/testing/harness.ts';
import type { Plane } from '../../core/testing/plane.ts';
import type { PlaneApi } from '../../core/testing/plane-api.ts';

export class MfaPerson {
  readonly #plane: Plane;
  readonly #api: PlaneApi;
  readonly email: string;
  password: string;
  id = '';
  /** Access token of the first session. */
  token = '';
  /** Of the app, once enrolled. */
  secret = '';
  codes: string[] = [];

  private constructor(plane: Plane, api: PlaneApi, account: { email: string; password: string }) {
    this.#plane = plane;
    this.#api = api;
    this.email = account.email;
    this.password = account.password;
  }

  /** A new account, logged in, without a second factor. */
  static async create(plane: Plane, api: PlaneApi, email: string): Promise<MfaPerson> {
    const made = await plane.control.accounts.createUser({ email, name: '', plan: 'free', superadmin: false });
    const person = new MfaPerson(plane, api, { email, password: made.password.reveal() });
    person.id = made.id;
    const answer = await person.login();
    person.token = String(answer.body['access_token']);
    return person;
  }

  /** The same, with the factor on; the step of the clock is used up. */
  static async protected(plane: Plane, api: PlaneApi, email: string): Promise<MfaPerson> {
    const person = await MfaPerson.create(plane, api, email);
    await person.enroll();
    const answer = await person.post('/auth/mfa/enroll/verify', { code: person.code() });
    assert.equal(answer.status, 200, answer.text);
    person.codes = answer.body['recovery_codes'] as string[];
    return person;
  }

  async enroll(): Promise<Answer> {
    const answer = await this.post('/auth/mfa/enroll');
    this.secret = String(answer.body['secret_base32']);
    return answer;
  }

  /** What the app shows now, or with its clock that many steps ahead. */
  code(steps = 0): string {
    return codeAt(this.secret, this.#plane.now, steps);
  }

  wrongCode(): string {
    return wrongCode(this.secret, this.#plane.now);
  }

  login(): Promise<Answer> {
    return this.#api.call('POST', '/auth/login', { body: { email: this.email, password: this.password } });
  }

  async challenge(): Promise<string> {
    const answer = await this.login();
    assert.equal(answer.body['mfa_required'], true, answer.text);
    return String(answer.body['challenge_token']);
  }

  /** The second step, with the challenge given or a new one. */
  async second(proof: object, challenge?: string): Promise<Answer> {
    return this.#api.call('POST', '/auth/login/mfa', {
      body: { challenge_token: challenge ?? (await this.challenge()), ...proof },
    });
  }

  /** A request of the first session. */
  post(path: string, body?: object, as = this.token): Promise<Answer> {
    return this.#api.call('POST', path, { as, ...(body === undefined ? {} : { body }) });
  }

  get(path: string): Promise<Answer> {
    return this.#api.call('GET', path, { as: this.token });
  }
}
