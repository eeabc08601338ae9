/** Generated from drizzle/ by scripts/gen-migrations.mjs. Do not edit. */
import type { Migration } from './migrate.ts';

export const MIGRATIONS: readonly Migration[] = [
  {
    "index": 1,
    "tag": "0000_start",
    "hash": "27360c838cc0dbbaa8d57a897455a088f7e57d186bd67202b4ce18cede99e2d0",
    "statements": [
      "CREATE TABLE `audit_events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text,\n\t`at` integer NOT NULL,\n\t`action` text NOT NULL,\n\t`resource_type` text NOT NULL,\n\t`resource_id` text NOT NULL,\n\t`actor_kind` text NOT NULL,\n\t`actor_id` text,\n\t`actor_label` text NOT NULL,\n\t`ip_address` text NOT NULL\n);",
      "CREATE INDEX `audit_events_org_at` ON `audit_events` (`org_id`,`at`);",
      "CREATE INDEX `audit_events_at` ON `audit_events` (`at`);",
      "CREATE TABLE `capability_tokens` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`project_id` text,\n\t`parent_id` text,\n\t`created_by` text,\n\t`kind` text NOT NULL,\n\t`version` integer NOT NULL,\n\t`name` text NOT NULL,\n\t`nonce` text NOT NULL,\n\t`subject` text NOT NULL,\n\t`key_hash` text NOT NULL,\n\t`wire_bytes_len` integer NOT NULL,\n\t`tunnel_quota` integer NOT NULL,\n\t`bandwidth_limit_mbps` integer NOT NULL,\n\t`allowed_subdomains` text NOT NULL,\n\t`monthly_budget_usd_cents` integer,\n\t`issued_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`revoked_at` integer,\n\t`last_used_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `capability_tokens_nonce` ON `capability_tokens` (`nonce`);",
      "CREATE UNIQUE INDEX `capability_tokens_key_hash` ON `capability_tokens` (`key_hash`);",
      "CREATE INDEX `capability_tokens_org` ON `capability_tokens` (`org_id`);",
      "CREATE INDEX `capability_tokens_parent` ON `capability_tokens` (`parent_id`);",
      "CREATE TABLE `memberships` (\n\t`org_id` text NOT NULL,\n\t`user_id` text NOT NULL,\n\t`role` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tPRIMARY KEY(`org_id`, `user_id`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `memberships_user` ON `memberships` (`user_id`);",
      "CREATE TABLE `node_cursors` (\n\t`node` text PRIMARY KEY NOT NULL,\n\t`sequence` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);",
      "CREATE TABLE `organizations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`name` text NOT NULL,\n\t`slug` text NOT NULL,\n\t`plan` text NOT NULL,\n\t`approval_status` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`deleted_at` integer\n);",
      "CREATE UNIQUE INDEX `organizations_slug` ON `organizations` (`slug`);",
      "CREATE TABLE `projects` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`slug` text NOT NULL,\n\t`name` text NOT NULL,\n\t`is_default` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`deleted_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `projects_org_slug` ON `projects` (`org_id`,`slug`) WHERE deleted_at IS NULL;",
      "CREATE UNIQUE INDEX `projects_org_default` ON `projects` (`org_id`) WHERE is_default = 1;",
      "CREATE TABLE `refresh_tokens` (\n\t`hash` text PRIMARY KEY NOT NULL,\n\t`session_id` text NOT NULL,\n\t`issued_at` integer NOT NULL,\n\t`rotated_at` integer,\n\tFOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `refresh_tokens_session` ON `refresh_tokens` (`session_id`);",
      "CREATE TABLE `resting_names` (\n\t`label` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`deleted_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `sessions` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`revoked_at` integer,\n\t`ip_address` text NOT NULL,\n\t`user_agent` text NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `sessions_user` ON `sessions` (`user_id`);",
      "CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);",
      "CREATE TABLE `signing_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`purpose` text NOT NULL,\n\t`public_jwk` text NOT NULL,\n\t`sealed_private` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`retired_at` integer\n);",
      "CREATE TABLE `tunnels` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`project_id` text NOT NULL,\n\t`label` text NOT NULL,\n\t`protocol` text NOT NULL,\n\t`local_port` integer NOT NULL,\n\t`tcp_port` integer,\n\t`status` text NOT NULL,\n\t`stopped` integer DEFAULT false NOT NULL,\n\t`ttl_seconds` integer,\n\t`expires_at` integer,\n\t`expired` integer DEFAULT false NOT NULL,\n\t`ephemeral` integer DEFAULT false NOT NULL,\n\t`token_id` text,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\t`total_requests` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`touched_at` integer NOT NULL,\n\t`deleted_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`token_id`) REFERENCES `capability_tokens`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `tunnels_live_label` ON `tunnels` (`label`) WHERE deleted_at IS NULL;",
      "CREATE UNIQUE INDEX `tunnels_live_port` ON `tunnels` (`tcp_port`) WHERE deleted_at IS NULL AND tcp_port IS NOT NULL;",
      "CREATE INDEX `tunnels_org` ON `tunnels` (`org_id`);",
      "CREATE INDEX `tunnels_due` ON `tunnels` (`expires_at`) WHERE deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL;",
      "CREATE TABLE `users` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`email` text NOT NULL,\n\t`email_key` text NOT NULL,\n\t`name` text DEFAULT '' NOT NULL,\n\t`password_hash` text,\n\t`email_verified_at` integer,\n\t`is_superadmin` integer DEFAULT false NOT NULL,\n\t`created_at` integer NOT NULL\n);",
      "CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);"
    ]
  },
  {
    "index": 2,
    "tag": "0001_accounts",
    "hash": "da9bc331949bc63124de1b1a699fae4e12d541904805f327c3799bfa242771ca",
    "statements": [
      "CREATE TABLE `device_logins` (\n\t`code_hash` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`token_id` text NOT NULL,\n\t`label` text NOT NULL,\n\t`sealed_wire` text NOT NULL,\n\t`approved_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`fetched_at` integer,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `device_logins_expires` ON `device_logins` (`expires_at`);",
      "CREATE TABLE `email_codes` (\n\t`user_id` text PRIMARY KEY NOT NULL,\n\t`code_mac` text NOT NULL,\n\t`failed_attempts` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `identities` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`provider` text NOT NULL,\n\t`issuer` text NOT NULL,\n\t`subject` text NOT NULL,\n\t`email` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);",
      "CREATE INDEX `identities_user` ON `identities` (`user_id`);",
      "CREATE TABLE `invitations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`email` text NOT NULL,\n\t`email_key` text NOT NULL,\n\t`role` text NOT NULL,\n\t`token_hash` text NOT NULL,\n\t`invited_by` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`accepted_at` integer,\n\t`revoked_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`invited_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `invitations_token` ON `invitations` (`token_hash`);",
      "CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`org_id`,`email_key`) WHERE accepted_at IS NULL AND revoked_at IS NULL;",
      "CREATE TABLE `mfa_factors` (\n\t`user_id` text PRIMARY KEY NOT NULL,\n\t`sealed_secret` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_step` integer NOT NULL,\n\t`failed_attempts` integer DEFAULT 0 NOT NULL,\n\t`locked_until` integer,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `outgoing_mails` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`sealed_letter` text NOT NULL,\n\t`attempts` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`next_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL\n);",
      "CREATE INDEX `outgoing_mails_next` ON `outgoing_mails` (`next_at`);",
      "CREATE TABLE `password_resets` (\n\t`hash` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `password_resets_user` ON `password_resets` (`user_id`);",
      "CREATE INDEX `password_resets_expires` ON `password_resets` (`expires_at`);",
      "CREATE TABLE `recovery_codes` (\n\t`mac` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `recovery_codes_user` ON `recovery_codes` (`user_id`);",
      "CREATE TABLE `spent_once` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`expires_at` integer NOT NULL\n);",
      "CREATE INDEX `spent_once_expires` ON `spent_once` (`expires_at`);",
      "ALTER TABLE `users` ADD `password_changed_at` integer;",
      "CREATE INDEX `audit_events_actor_at` ON `audit_events` (`actor_id`,`at`);",
      "CREATE INDEX `audit_events_resource_at` ON `audit_events` (`resource_id`,`at`);"
    ]
  },
  {
    "index": 3,
    "tag": "0002_account_controls",
    "hash": "d6f8d5d88f922352c6f933f9d0e60bde84ff2ca86ebb0ba71a63049e88b66ccc",
    "statements": [
      "ALTER TABLE `audit_events` ADD `details` text;",
      "ALTER TABLE `sessions` ADD `token_id` text;",
      "ALTER TABLE `users` ADD `locked_at` integer;",
      "CREATE INDEX `tunnels_token` ON `tunnels` (`token_id`);"
    ]
  },
  {
    "index": 4,
    "tag": "0003_budgets_and_plans",
    "hash": "66186c25fa5a406530fdd817ce8f5acc4ceeadcc66cafc92de2c28d4690c8579",
    "statements": [
      "CREATE TABLE `billing_events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`received_at` integer NOT NULL\n);",
      "CREATE INDEX `billing_events_received` ON `billing_events` (`received_at`);",
      "CREATE TABLE `subscriptions` (\n\t`org_id` text PRIMARY KEY NOT NULL,\n\t`customer_id` text NOT NULL,\n\t`subscription_id` text,\n\t`status` text,\n\t`plan` text,\n\t`cycle` text,\n\t`current_period_ends_at` integer,\n\t`cancels` integer DEFAULT false NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `subscriptions_updated` ON `subscriptions` (`updated_at`);",
      "CREATE UNIQUE INDEX `subscriptions_customer` ON `subscriptions` (`customer_id`);",
      "CREATE UNIQUE INDEX `subscriptions_subscription` ON `subscriptions` (`subscription_id`);",
      "CREATE TABLE `revoked_nonces` (\n\t`token_id` text PRIMARY KEY NOT NULL,\n\t`nonce` text NOT NULL,\n\t`minter_id` text,\n\t`from_at` integer NOT NULL,\n\t`until` integer NOT NULL\n);",
      "CREATE INDEX `revoked_nonces_minter` ON `revoked_nonces` (`minter_id`,`until`);",
      "CREATE INDEX `revoked_nonces_until` ON `revoked_nonces` (`until`);",
      "CREATE TABLE `token_spend` (\n\t`lineage_id` text NOT NULL,\n\t`month` text NOT NULL,\n\t`bytes` integer NOT NULL,\n\t`requests` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tPRIMARY KEY(`lineage_id`, `month`)\n);",
      "CREATE TABLE `reserved_subdomains` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`subdomain` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `reserved_subdomains_subdomain` ON `reserved_subdomains` (`subdomain`);",
      "CREATE INDEX `reserved_subdomains_org` ON `reserved_subdomains` (`org_id`);",
      "DROP INDEX `tunnels_org`;",
      "ALTER TABLE `tunnels` ADD `started_at` integer DEFAULT 0 NOT NULL;",
      "CREATE INDEX `tunnels_live_org` ON `tunnels` (`org_id`,`deleted_at`,`created_at`) WHERE deleted_at IS NULL;",
      "CREATE INDEX `tunnels_made` ON `tunnels` (`org_id`,`created_at`);",
      "CREATE INDEX `tunnels_idle` ON `tunnels` (`touched_at`) WHERE deleted_at IS NULL;",
      "CREATE INDEX `tunnels_deleted` ON `tunnels` (`deleted_at`) WHERE deleted_at IS NOT NULL;",
      "CREATE INDEX `tunnels_freed_port` ON `tunnels` (`tcp_port`,`deleted_at`) WHERE deleted_at IS NOT NULL AND tcp_port IS NOT NULL;",
      "ALTER TABLE `capability_tokens` ADD `lineage_id` text;",
      "ALTER TABLE `capability_tokens` ADD `grace_ends_at` integer;",
      "CREATE INDEX `capability_tokens_creator` ON `capability_tokens` (`created_by`);",
      "CREATE INDEX `capability_tokens_expires` ON `capability_tokens` (`expires_at`);",
      "CREATE INDEX `capability_tokens_revoked` ON `capability_tokens` (`revoked_at`) WHERE revoked_at IS NOT NULL;",
      "CREATE INDEX `capability_tokens_lineage` ON `capability_tokens` (`lineage_id`);",
      "CREATE INDEX `capability_tokens_grace` ON `capability_tokens` (`grace_ends_at`) WHERE grace_ends_at IS NOT NULL AND revoked_at IS NULL;",
      "CREATE INDEX `organizations_barred` ON `organizations` (`id`) WHERE approval_status <> 'approved';",
      "CREATE INDEX `resting_names_deleted` ON `resting_names` (`deleted_at`);",
      "UPDATE `capability_tokens` SET `lineage_id` = `id`;",
      "UPDATE `tunnels` SET `started_at` = `created_at`;",
      "INSERT INTO `revoked_nonces` (`token_id`, `nonce`, `minter_id`, `from_at`, `until`) SELECT `id`, `nonce`, coalesce(`parent_id`, `created_by`), `revoked_at`, `expires_at` FROM `capability_tokens` WHERE `revoked_at` IS NOT NULL;"
    ]
  },
  {
    "index": 5,
    "tag": "0004_the_edge",
    "hash": "f80309b03c8f342214bcd5690b8ee343bf47146fb78277c7c911d3c021cd970a",
    "statements": [
      "CREATE TABLE `basic_gates` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`username` text NOT NULL,\n\t`password_hash` text NOT NULL,\n\t`version` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `tunnel_policies` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`policy` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `visitor_gates` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`allowed_domains` text NOT NULL,\n\t`allowed_emails` text NOT NULL,\n\t`version` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `acme_accounts` (\n\t`directory_url` text PRIMARY KEY NOT NULL,\n\t`account_url` text NOT NULL,\n\t`sealed_key` text NOT NULL,\n\t`created_at` integer NOT NULL\n);",
      "CREATE TABLE `certificates` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`chain` text,\n\t`sealed_key` text,\n\t`expires_at` integer,\n\t`next_at` integer NOT NULL,\n\t`failures` integer DEFAULT 0 NOT NULL,\n\t`last_error` text,\n\t`last_attempt_at` integer,\n\t`created_at` integer NOT NULL\n);",
      "CREATE INDEX `certificates_next` ON `certificates` (`next_at`);",
      "CREATE TABLE `domains` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`domain` text NOT NULL,\n\t`verification_token` text NOT NULL,\n\t`verified_at` integer,\n\t`checked_at` integer,\n\t`failing_since` integer,\n\t`tunnel_id` text,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `domains_org_domain` ON `domains` (`org_id`,`domain`);",
      "CREATE UNIQUE INDEX `domains_verified` ON `domains` (`domain`) WHERE verified_at IS NOT NULL;",
      "CREATE INDEX `domains_tunnel` ON `domains` (`tunnel_id`);",
      "CREATE INDEX `domains_checked` ON `domains` (`checked_at`) WHERE verified_at IS NOT NULL;"
    ]
  },
  {
    "index": 6,
    "tag": "0005_dry_runs",
    "hash": "fb18ffcabc3c94c8205d6693bc787dd9018f003896d50e125550221314d9f361",
    "statements": [
      "CREATE TABLE `dry_runs` (\n\t`tunnel_id` text NOT NULL,\n\t`action_index` integer NOT NULL,\n\t`refused` integer NOT NULL,\n\t`last_at` integer NOT NULL,\n\t`method` text,\n\t`path` text,\n\t`client_ip` text NOT NULL,\n\t`code` text NOT NULL,\n\tPRIMARY KEY(`tunnel_id`, `action_index`),\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);"
    ]
  },
  {
    "index": 7,
    "tag": "0006_certificate_owners",
    "hash": "533073d8479a13c49d2ef2ce0883d332d928b3fffe4d4c7a757f72cfd017bce5",
    "statements": [
      "ALTER TABLE `certificates` ADD `org_id` text;"
    ]
  },
  {
    "index": 8,
    "tag": "0007_mailbox_and_metrics",
    "hash": "205d067fdf5730ef3cb4207e8959e419bf11e608e0e2a8580deab4c4f8836546",
    "statements": [
      "CREATE TABLE `webhook_deliveries` (\n\t`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n\t`id` text NOT NULL,\n\t`receiver_id` text NOT NULL,\n\t`received_at` integer NOT NULL,\n\t`event_type` text,\n\t`delivery_id` text,\n\t`content_type` text,\n\t`headers` text NOT NULL,\n\t`body` blob NOT NULL,\n\t`bytes` integer NOT NULL,\n\tFOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `webhook_deliveries_id` ON `webhook_deliveries` (`id`);",
      "CREATE UNIQUE INDEX `webhook_deliveries_delivery` ON `webhook_deliveries` (`receiver_id`,`delivery_id`);",
      "CREATE INDEX `webhook_deliveries_receiver` ON `webhook_deliveries` (`receiver_id`,`sequence`);",
      "CREATE INDEX `webhook_deliveries_received` ON `webhook_deliveries` (`received_at`);",
      "CREATE TABLE `webhook_receivers` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`validator` text NOT NULL,\n\t`sealed_secret` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`stored_bytes` integer DEFAULT 0 NOT NULL,\n\t`stored_count` integer DEFAULT 0 NOT NULL,\n\t`received` integer DEFAULT 0 NOT NULL,\n\t`displaced` integer DEFAULT 0 NOT NULL,\n\t`last_received_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `webhook_receivers_org` ON `webhook_receivers` (`org_id`);",
      "CREATE TABLE `usage_buckets` (\n\t`org_id` text NOT NULL,\n\t`width_seconds` integer NOT NULL,\n\t`starts_at` integer NOT NULL,\n\t`requests` integer NOT NULL,\n\t`bytes_in` integer NOT NULL,\n\t`bytes_out` integer NOT NULL,\n\tPRIMARY KEY(`org_id`, `width_seconds`, `starts_at`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `usage_buckets_past` ON `usage_buckets` (`width_seconds`,`starts_at`);"
    ]
  },
  {
    "index": 9,
    "tag": "0008_metric_keys_and_ended_sessions",
    "hash": "8efd7f9ba296825aa93002da1e5eda36181de8a19432c7c01392b9572c67fc75",
    "statements": [
      "CREATE TABLE `ended_sessions` (\n\t`agent_id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`token_id` text NOT NULL,\n\t`remote_ip` text NOT NULL,\n\t`hostname` text NOT NULL,\n\t`started_at` integer NOT NULL,\n\t`ended_at` integer NOT NULL,\n\t`reason` text NOT NULL,\n\t`message` text NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `ended_sessions_org` ON `ended_sessions` (`org_id`,`ended_at`);",
      "CREATE INDEX `ended_sessions_ended` ON `ended_sessions` (`ended_at`);",
      "CREATE TABLE `metric_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`key_hash` text NOT NULL,\n\t`created_by` text,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `metric_keys_key_hash` ON `metric_keys` (`key_hash`);",
      "CREATE INDEX `metric_keys_org` ON `metric_keys` (`org_id`);"
    ]
  },
  {
    "index": 10,
    "tag": "0009_webhook_forwards",
    "hash": "15a86713f89e9521a07b892783f705b7a4ef2c9e565e8176223a5b01daaab779",
    "statements": [
      "CREATE TABLE `webhook_forwards` (\n\t`sequence` integer PRIMARY KEY NOT NULL,\n\t`receiver_id` text NOT NULL,\n\t`place` integer NOT NULL,\n\t`state` text NOT NULL,\n\t`attempts` integer DEFAULT 0 NOT NULL,\n\t`next_at` integer DEFAULT 0 NOT NULL,\n\t`last_status` integer,\n\t`last_error` text,\n\t`delivered_at` integer,\n\tFOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `webhook_forwards_waiting` ON `webhook_forwards` (`receiver_id`,`place`,`sequence`) WHERE state = 'waiting';",
      "ALTER TABLE `webhook_deliveries` ADD `remote_ip` text;",
      "ALTER TABLE `webhook_receivers` ADD `forward_tunnel_id` text;",
      "ALTER TABLE `webhook_receivers` ADD `forward_path` text;",
      "CREATE INDEX `webhook_receivers_forward` ON `webhook_receivers` (`forward_tunnel_id`) WHERE forward_tunnel_id IS NOT NULL;"
    ]
  },
  {
    "index": 11,
    "tag": "0010_private_networks",
    "hash": "e622b33692bfc22f24e8f783b2e852066310705eedada82dc2b015a23748894f",
    "statements": [
      "CREATE TABLE `network_devices` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`network_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`public_key` text NOT NULL,\n\t`host` integer NOT NULL,\n\t`extra_allowed_ips` text NOT NULL,\n\t`expires_at` integer,\n\t`expired` integer DEFAULT false NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`last_handshake_at` integer,\n\t`last_seen_at` integer,\n\t`endpoint` text,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\tFOREIGN KEY (`network_id`) REFERENCES `private_networks`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `network_devices_host` ON `network_devices` (`network_id`,`host`);",
      "CREATE UNIQUE INDEX `network_devices_key` ON `network_devices` (`network_id`,`public_key`);",
      "CREATE INDEX `network_devices_org` ON `network_devices` (`org_id`,`network_id`,`expires_at`);",
      "CREATE INDEX `network_devices_due` ON `network_devices` (`expires_at`) WHERE expired = 0 AND expires_at IS NOT NULL;",
      "CREATE TABLE `private_networks` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`cidr` text NOT NULL,\n\t`server_public_key` text,\n\t`server_listen_port` integer,\n\t`reserved_udp_port` integer,\n\t`self_endpoint` text,\n\t`dns` text NOT NULL,\n\t`extra_allowed_ips` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\t`packets_in` integer DEFAULT 0 NOT NULL,\n\t`packets_out` integer DEFAULT 0 NOT NULL,\n\t`device_lost_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `private_networks_org_name` ON `private_networks` (`org_id`,`name`);",
      "CREATE UNIQUE INDEX `private_networks_port` ON `private_networks` (`reserved_udp_port`) WHERE reserved_udp_port IS NOT NULL;",
      "CREATE TABLE `resting_udp_ports` (\n\t`port` integer PRIMARY KEY NOT NULL,\n\t`freed_at` integer NOT NULL\n);",
      "CREATE INDEX `certificates_expires` ON `certificates` (`expires_at`);"
    ]
  },
  {
    "index": 12,
    "tag": "0011_webhook_refusals",
    "hash": "c2d79bff86c37b5dbc17f81215daf94e707f2295072541f3b933186ef36384ae",
    "statements": [
      "CREATE TABLE `webhook_refusals` (\n\t`receiver_id` text NOT NULL,\n\t`reason` text NOT NULL,\n\t`count` integer NOT NULL,\n\t`last_at` integer NOT NULL,\n\tPRIMARY KEY(`receiver_id`, `reason`),\n\tFOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action\n);"
    ]
  },
  {
    "index": 13,
    "tag": "0012_rotations",
    "hash": "a92ffd5438236f30b48ecb4ae9af835d471814a57107581df9bb3cabc206dcd5",
    "statements": [
      "ALTER TABLE `capability_tokens` ADD `replaced_by` text;",
      "-- Only the last of a lineage can be rotated, so that each was replaced by the next one. Ids go up with time.\nUPDATE `capability_tokens` SET `replaced_by` = (\n\tSELECT `later`.`nonce` FROM `capability_tokens` AS `later`\n\tWHERE `later`.`lineage_id` = `capability_tokens`.`lineage_id` AND `later`.`id` > `capability_tokens`.`id`\n\tORDER BY `later`.`id` LIMIT 1\n) WHERE `grace_ends_at` IS NOT NULL OR `revoked_at` IS NOT NULL;"
    ]
  },
  {
    "index": 14,
    "tag": "0013_refused_before",
    "hash": "56750414a1400ae92797ffe49da6c9316ce4937e2b93642dbdf169cebdbdc4c8",
    "statements": [
      "ALTER TABLE `webhook_receivers` ADD `refused_before` integer;",
      "-- What was changed last was changed before the last delivery came: that was taken in by the secret of now.\nUPDATE `webhook_receivers` SET `refused_before` = (\n\tSELECT coalesce(sum(`count`), 0) FROM `webhook_refusals`\n\tWHERE `receiver_id` = `webhook_receivers`.`id` AND `last_at` <= `webhook_receivers`.`last_received_at`\n) WHERE `last_received_at` >= `updated_at`;"
    ]
  },
  {
    "index": 15,
    "tag": "0014_resting_ports",
    "hash": "6cd6b9577dd283fe61333b0a27e7a7b6e6b29ba191283839a7c1a5937a2cbe06",
    "statements": [
      "CREATE TABLE `resting_ports` (\n\t`transport` text NOT NULL,\n\t`port` integer NOT NULL,\n\t`org_id` text,\n\t`freed_at` integer NOT NULL,\n\tPRIMARY KEY(`transport`, `port`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "-- `max` picks the row that the other columns are of: the last owner.\nINSERT INTO `resting_ports` (`transport`, `port`, `org_id`, `freed_at`)\n\tSELECT 'tcp', `tcp_port`, `org_id`, max(`deleted_at`) FROM `tunnels`\n\tWHERE `deleted_at` IS NOT NULL AND `tcp_port` IS NOT NULL GROUP BY `tcp_port`;",
      "INSERT INTO `resting_ports` (`transport`, `port`, `freed_at`) SELECT 'udp', `port`, `freed_at` FROM `resting_udp_ports`;",
      "DROP TABLE `resting_udp_ports`;",
      "DROP INDEX `tunnels_freed_port`;"
    ]
  },
  {
    "index": 16,
    "tag": "0015_interrupted_starts",
    "hash": "635b1752ae9fc0680ae12f1937c24c06e36ba55bc1fb98addd4e59235ee67978",
    "statements": [
      "ALTER TABLE `users` ADD `password_unseen` integer DEFAULT false NOT NULL;",
      "ALTER TABLE `certificates` ADD `interruptions` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "index": 17,
    "tag": "0016_chief_doorman",
    "hash": "2c16a119acf88f74f52323d62d7a385fdc1ae857c275a94b0560e624d5f9ff8c",
    "statements": [
      "CREATE TABLE `server_identity` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`created_at` integer NOT NULL\n);"
    ]
  },
  {
    "index": 18,
    "tag": "0017_swift_maria_hill",
    "hash": "bbe635e9c558d47f97a36f93642e086983ce6916e8eddaa0fd8664e0055fe2b2",
    "statements": [
      "CREATE TABLE `pending_work` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`scope` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`at` integer NOT NULL,\n\t`actor` text NOT NULL,\n\t`details` text NOT NULL,\n\t`cursor` text DEFAULT '' NOT NULL\n);",
      "CREATE INDEX `pending_work_scope` ON `pending_work` (`scope`);",
      "CREATE INDEX `pending_work_org` ON `pending_work` (`org_id`,`id`);",
      "CREATE TABLE `counters` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`value` integer NOT NULL\n);"
    ]
  }
];
