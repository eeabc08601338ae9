/** All programs, in the order in which they are run. */
import type { CompatProgram } from './program.ts';
import { django } from './programs/django.ts';
import { express } from './programs/express.ts';
import { flask } from './programs/flask.ts';
import { git } from './programs/git.ts';
import { jupyter } from './programs/jupyter.ts';
import { mariadb } from './programs/mariadb.ts';
import { mqtt } from './programs/mqtt.ts';
import { next } from './programs/next.ts';
import { nginx } from './programs/nginx.ts';
import { ngrokJs } from './programs/ngrok-js.ts';
import { php } from './programs/php.ts';
import { postgresql } from './programs/postgresql.ts';
import { pyngrok } from './programs/pyngrok.ts';
import { rails } from './programs/rails.ts';
import { redis } from './programs/redis.ts';
import { registry } from './programs/registry.ts';
import { rsync } from './programs/rsync.ts';
import { ssh } from './programs/ssh.ts';
import { verdaccio } from './programs/verdaccio.ts';
import { vite } from './programs/vite.ts';
import { webdav } from './programs/webdav.ts';
import { webpackDevServer } from './programs/webpack-dev-server.ts';

export const PROGRAMS: Readonly<Record<string, CompatProgram>> = {
  vite,
  'webpack-dev-server': webpackDevServer,
  django,
  jupyter,
  next,
  flask,
  express,
  php,
  nginx,
  git,
  postgresql,
  ssh,
  rsync,
  redis,
  'ngrok-js': ngrokJs,
  pyngrok,
  registry,
  verdaccio,
  webdav,
  mariadb,
  mqtt,
  rails,
};
