/** A Rails app in development: a form with its CSRF token. Rails checks X-Forwarded-Host besides Host, so that no rewriting helps: its own setting does. */
import assert from 'node:assert/strict';
import { type CompatProgram, NotHere } from '../program.ts';

const APP = `require "rails"
require "action_controller/railtie"

class Compat < Rails::Application
  config.root = __dir__
  config.eager_load = false
  config.consider_all_requests_local = true
  config.secret_key_base = "compat" * 20
  config.session_store :cookie_store, key: "compat"
  config.logger = Logger.new(nil)
  config.hosts << ENV["COMPAT_HOST"] if ENV["COMPAT_HOST"]
  routes.append { get "/form" => "pages#form"; post "/form" => "pages#create" }
end

class PagesController < ActionController::Base
  protect_from_forgery with: :exception
  def form = render(plain: form_authenticity_token)
  def create = redirect_to("/form", notice: params[:name])
end

Compat.initialize!
run Compat
`;

export const rails: CompatProgram = {
  name: 'Rails',
  checks: 'form with CSRF token, session cookie, redirect',
  remedy: { name: 'config.hosts', isFlag: false, advice: /config\.hosts/ },
  async start(kit) {
    await kit.needs({ ruby: 'ruby', puma: 'puma' });
    const version = await kit.run(['ruby', '-e', 'require "rails"; puts Rails.version']).catch((error: unknown) => {
      throw new NotHere(`Rails not installed (Debian: ruby-railties): ${String(error).split('\n')[0]}`);
    });
    kit.write({ 'config.ru': APP, 'log/.keep': '' });
    const serve = async (env: NodeJS.ProcessEnv): Promise<number> => {
      const port = await kit.freePort();
      const command = ['puma', '-e', 'development', '-b', `tcp://127.0.0.1:${port}`, 'config.ru'];
      await kit.serve(command, port, { cwd: kit.folder, env: { RAILS_ENV: 'development', ...env } });
      return port;
    };
    return {
      version: version.trim(),
      port: await serve({}),
      configuredPort: await serve({ COMPAT_HOST: '.tunnels.example' }),
      async check({ ask, url }) {
        const form = await ask('/form');
        assert.equal(form.status, 200, `the form: ${form.status}`);
        const cookie = form.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
        const body = new URLSearchParams({ authenticity_token: form.text, name: 'ann' }).toString();
        const headers = { cookie, origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' };
        const sent = await ask('/form', { method: 'POST', headers, body });
        assert.deepEqual(
          [sent.status, sent.headers.location],
          [302, new URL('/form', url).href],
          sent.text.slice(0, 200),
        );
      },
    };
  },
};
