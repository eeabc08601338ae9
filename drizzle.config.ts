/** For `drizzle-kit generate` alone: src/control/db/schema/*.ts → drizzle/*.sql. Afterwards run scripts/gen-migrations.mjs. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './src/control/db/schema.ts', out: './drizzle' });
