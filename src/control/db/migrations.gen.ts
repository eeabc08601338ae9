/** Generated from drizzle/ by scripts/gen-migrations.mjs. Do not edit. */
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  {
    "index": 1,
    "tag": "0000_start",
    "hash": "38591e88728e3ea380ddfb1d5492afa50e2102eec28be4f0d94c2c2c1c95195b",
    "statements": [
      "CREATE TABLE `email_codes` (\n\t`user_id` text PRIMARY KEY NOT NULL,\n\t`code_mac` text NOT NULL,\n\t`failed_attempts` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `identities` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`provider` text NOT NULL,\n\t`issuer` text NOT NULL,\n\t`subject` text NOT NULL,\n\t`email` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);",
      "CREATE INDEX `identities_user` ON `identities` (`user_id`);",
      "CREATE TABLE `mfa_factors` (\n\t`user_id` text PRIMARY KEY NOT NULL,\n\t`sealed_secret` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_step` integer NOT NULL,\n\t`failed_attempts` integer DEFAULT 0 NOT NULL,\n\t`locked_until` integer,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `password_resets` (\n\t`hash` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `password_resets_user` ON `password_resets` (`user_id`);",
      "CREATE INDEX `password_resets_expires` ON `password_resets` (`expires_at`);",
      "CREATE TABLE `recovery_codes` (\n\t`mac` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `recovery_codes_user` ON `recovery_codes` (`user_id`);",
      "CREATE TABLE `users` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`email` text NOT NULL,\n\t`email_key` text NOT NULL,\n\t`name` text DEFAULT '' NOT NULL,\n\t`password_hash` text,\n\t`email_verified_at` integer,\n\t`is_superadmin` integer DEFAULT false NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`password_changed_at` integer,\n\t`password_unseen` integer DEFAULT false NOT NULL,\n\t`locked_at` integer\n);",
      "CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);",
      "CREATE TABLE `billing_events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`received_at` integer NOT NULL\n);",
      "CREATE INDEX `billing_events_received` ON `billing_events` (`received_at`);",
      "CREATE TABLE `invitations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`email` text NOT NULL,\n\t`email_key` text NOT NULL,\n\t`role` text NOT NULL,\n\t`token_hash` text NOT NULL,\n\t`invited_by` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`accepted_at` integer,\n\t`revoked_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`invited_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `invitations_token` ON `invitations` (`token_hash`);",
      "CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`org_id`,`email_key`) WHERE accepted_at IS NULL AND revoked_at IS NULL;",
      "CREATE TABLE `memberships` (\n\t`org_id` text NOT NULL,\n\t`user_id` text NOT NULL,\n\t`role` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tPRIMARY KEY(`org_id`, `user_id`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `memberships_user` ON `memberships` (`user_id`);",
      "CREATE TABLE `organizations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`name` text NOT NULL,\n\t`slug` text NOT NULL,\n\t`plan` text NOT NULL,\n\t`approval_status` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`deleted_at` integer\n);",
      "CREATE UNIQUE INDEX `organizations_slug` ON `organizations` (`slug`);",
      "CREATE INDEX `organizations_barred` ON `organizations` (`id`) WHERE approval_status <> 'approved';",
      "CREATE TABLE `subscriptions` (\n\t`org_id` text PRIMARY KEY NOT NULL,\n\t`customer_id` text NOT NULL,\n\t`subscription_id` text,\n\t`status` text,\n\t`plan` text,\n\t`cycle` text,\n\t`current_period_ends_at` integer,\n\t`cancels` integer DEFAULT false NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `subscriptions_updated` ON `subscriptions` (`updated_at`);",
      "CREATE UNIQUE INDEX `subscriptions_customer` ON `subscriptions` (`customer_id`);",
      "CREATE UNIQUE INDEX `subscriptions_subscription` ON `subscriptions` (`subscription_id`);",
      "CREATE TABLE `device_logins` (\n\t`code_hash` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`token_id` text NOT NULL,\n\t`label` text NOT NULL,\n\t`sealed_wire` text NOT NULL,\n\t`approved_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`fetched_at` integer,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `device_logins_expires` ON `device_logins` (`expires_at`);",
      "CREATE TABLE `refresh_tokens` (\n\t`hash` text PRIMARY KEY NOT NULL,\n\t`session_id` text NOT NULL,\n\t`issued_at` integer NOT NULL,\n\t`rotated_at` integer,\n\tFOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `refresh_tokens_session` ON `refresh_tokens` (`session_id`);",
      "CREATE TABLE `sessions` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`revoked_at` integer,\n\t`ip_address` text NOT NULL,\n\t`user_agent` text NOT NULL,\n\t`token_id` text,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `sessions_user` ON `sessions` (`user_id`);",
      "CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);",
      "CREATE TABLE `capability_tokens` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`project_id` text,\n\t`parent_id` text,\n\t`lineage_id` text,\n\t`created_by` text,\n\t`kind` text NOT NULL,\n\t`version` integer NOT NULL,\n\t`name` text NOT NULL,\n\t`nonce` text NOT NULL,\n\t`subject` text NOT NULL,\n\t`key_hash` text NOT NULL,\n\t`wire_bytes_len` integer NOT NULL,\n\t`tunnel_quota` integer NOT NULL,\n\t`bandwidth_limit_mbps` integer NOT NULL,\n\t`allowed_subdomains` text NOT NULL,\n\t`monthly_budget_usd_cents` integer,\n\t`issued_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\t`grace_ends_at` integer,\n\t`replaced_by` text,\n\t`revoked_at` integer,\n\t`last_used_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `capability_tokens_nonce` ON `capability_tokens` (`nonce`);",
      "CREATE UNIQUE INDEX `capability_tokens_key_hash` ON `capability_tokens` (`key_hash`);",
      "CREATE INDEX `capability_tokens_org` ON `capability_tokens` (`org_id`);",
      "CREATE INDEX `capability_tokens_creator` ON `capability_tokens` (`created_by`);",
      "CREATE INDEX `capability_tokens_expires` ON `capability_tokens` (`expires_at`);",
      "CREATE INDEX `capability_tokens_revoked` ON `capability_tokens` (`revoked_at`) WHERE revoked_at IS NOT NULL;",
      "CREATE INDEX `capability_tokens_parent` ON `capability_tokens` (`parent_id`);",
      "CREATE INDEX `capability_tokens_lineage` ON `capability_tokens` (`lineage_id`);",
      "CREATE INDEX `capability_tokens_grace` ON `capability_tokens` (`grace_ends_at`) WHERE grace_ends_at IS NOT NULL AND revoked_at IS NULL;",
      "CREATE TABLE `projects` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`slug` text NOT NULL,\n\t`name` text NOT NULL,\n\t`is_default` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`deleted_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `projects_org_slug` ON `projects` (`org_id`,`slug`) WHERE deleted_at IS NULL;",
      "CREATE UNIQUE INDEX `projects_org_default` ON `projects` (`org_id`) WHERE is_default = 1;",
      "CREATE TABLE `revoked_nonces` (\n\t`token_id` text PRIMARY KEY NOT NULL,\n\t`nonce` text NOT NULL,\n\t`minter_id` text,\n\t`from_at` integer NOT NULL,\n\t`until` integer NOT NULL\n);",
      "CREATE INDEX `revoked_nonces_minter` ON `revoked_nonces` (`minter_id`,`until`);",
      "CREATE INDEX `revoked_nonces_until` ON `revoked_nonces` (`until`);",
      "CREATE TABLE `token_spend` (\n\t`lineage_id` text NOT NULL,\n\t`month` text NOT NULL,\n\t`bytes` integer NOT NULL,\n\t`requests` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tPRIMARY KEY(`lineage_id`, `month`)\n);",
      "CREATE TABLE `basic_gates` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`username` text NOT NULL,\n\t`password_hash` text NOT NULL,\n\t`version` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `dry_runs` (\n\t`tunnel_id` text NOT NULL,\n\t`action_index` integer NOT NULL,\n\t`refused` integer NOT NULL,\n\t`last_at` integer NOT NULL,\n\t`method` text,\n\t`path` text,\n\t`client_ip` text NOT NULL,\n\t`code` text NOT NULL,\n\tPRIMARY KEY(`tunnel_id`, `action_index`),\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `reserved_subdomains` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`subdomain` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `reserved_subdomains_subdomain` ON `reserved_subdomains` (`subdomain`);",
      "CREATE INDEX `reserved_subdomains_org` ON `reserved_subdomains` (`org_id`);",
      "CREATE TABLE `resting_names` (\n\t`label` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`deleted_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `resting_names_deleted` ON `resting_names` (`deleted_at`);",
      "CREATE TABLE `tunnel_policies` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`policy` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `tunnels` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`project_id` text NOT NULL,\n\t`label` text NOT NULL,\n\t`protocol` text NOT NULL,\n\t`local_port` integer NOT NULL,\n\t`tcp_port` integer,\n\t`status` text NOT NULL,\n\t`stopped` integer DEFAULT false NOT NULL,\n\t`ttl_seconds` integer,\n\t`started_at` integer DEFAULT 0 NOT NULL,\n\t`expires_at` integer,\n\t`expired` integer DEFAULT false NOT NULL,\n\t`ephemeral` integer DEFAULT false NOT NULL,\n\t`token_id` text,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\t`total_requests` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`touched_at` integer NOT NULL,\n\t`deleted_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`token_id`) REFERENCES `capability_tokens`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `tunnels_live_label` ON `tunnels` (`label`) WHERE deleted_at IS NULL;",
      "CREATE UNIQUE INDEX `tunnels_live_port` ON `tunnels` (`tcp_port`) WHERE deleted_at IS NULL AND tcp_port IS NOT NULL;",
      "CREATE INDEX `tunnels_live_org` ON `tunnels` (`org_id`,`deleted_at`,`created_at`) WHERE deleted_at IS NULL;",
      "CREATE INDEX `tunnels_made` ON `tunnels` (`org_id`,`created_at`);",
      "CREATE INDEX `tunnels_idle` ON `tunnels` (`touched_at`) WHERE deleted_at IS NULL;",
      "CREATE INDEX `tunnels_deleted` ON `tunnels` (`deleted_at`) WHERE deleted_at IS NOT NULL;",
      "CREATE INDEX `tunnels_token` ON `tunnels` (`token_id`);",
      "CREATE INDEX `tunnels_due` ON `tunnels` (`expires_at`) WHERE deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL;",
      "CREATE TABLE `visitor_gates` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`allowed_domains` text NOT NULL,\n\t`allowed_emails` text NOT NULL,\n\t`version` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `acme_accounts` (\n\t`directory_url` text PRIMARY KEY NOT NULL,\n\t`account_url` text NOT NULL,\n\t`sealed_key` text NOT NULL,\n\t`created_at` integer NOT NULL\n);",
      "CREATE TABLE `certificates` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`org_id` text,\n\t`chain` text,\n\t`sealed_key` text,\n\t`expires_at` integer,\n\t`next_at` integer NOT NULL,\n\t`failures` integer DEFAULT 0 NOT NULL,\n\t`last_error` text,\n\t`last_attempt_at` integer,\n\t`interruptions` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL\n);",
      "CREATE INDEX `certificates_next` ON `certificates` (`next_at`);",
      "CREATE INDEX `certificates_expires` ON `certificates` (`expires_at`);",
      "CREATE TABLE `domains` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`domain` text NOT NULL,\n\t`verification_token` text NOT NULL,\n\t`verified_at` integer,\n\t`checked_at` integer,\n\t`failing_since` integer,\n\t`tunnel_id` text,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `domains_org_domain` ON `domains` (`org_id`,`domain`);",
      "CREATE UNIQUE INDEX `domains_verified` ON `domains` (`domain`) WHERE verified_at IS NOT NULL;",
      "CREATE INDEX `domains_tunnel` ON `domains` (`tunnel_id`);",
      "CREATE INDEX `domains_checked` ON `domains` (`checked_at`) WHERE verified_at IS NOT NULL;",
      "CREATE TABLE `network_devices` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`network_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`public_key` text NOT NULL,\n\t`host` integer NOT NULL,\n\t`extra_allowed_ips` text NOT NULL,\n\t`expires_at` integer,\n\t`expired` integer DEFAULT false NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`last_handshake_at` integer,\n\t`last_seen_at` integer,\n\t`endpoint` text,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\tFOREIGN KEY (`network_id`) REFERENCES `private_networks`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `network_devices_host` ON `network_devices` (`network_id`,`host`);",
      "CREATE UNIQUE INDEX `network_devices_key` ON `network_devices` (`network_id`,`public_key`);",
      "CREATE INDEX `network_devices_org` ON `network_devices` (`org_id`,`network_id`,`expires_at`);",
      "CREATE INDEX `network_devices_due` ON `network_devices` (`expires_at`) WHERE expired = 0 AND expires_at IS NOT NULL;",
      "CREATE TABLE `private_networks` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`cidr` text NOT NULL,\n\t`server_public_key` text,\n\t`server_listen_port` integer,\n\t`reserved_udp_port` integer,\n\t`self_endpoint` text,\n\t`dns` text NOT NULL,\n\t`extra_allowed_ips` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`bytes_in` integer DEFAULT 0 NOT NULL,\n\t`bytes_out` integer DEFAULT 0 NOT NULL,\n\t`packets_in` integer DEFAULT 0 NOT NULL,\n\t`packets_out` integer DEFAULT 0 NOT NULL,\n\t`device_lost_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `private_networks_org_name` ON `private_networks` (`org_id`,`name`);",
      "CREATE UNIQUE INDEX `private_networks_port` ON `private_networks` (`reserved_udp_port`) WHERE reserved_udp_port IS NOT NULL;",
      "CREATE TABLE `resting_ports` (\n\t`transport` text NOT NULL,\n\t`port` integer NOT NULL,\n\t`org_id` text,\n\t`freed_at` integer NOT NULL,\n\tPRIMARY KEY(`transport`, `port`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `webhook_deliveries` (\n\t`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n\t`id` text NOT NULL,\n\t`receiver_id` text NOT NULL,\n\t`received_at` integer NOT NULL,\n\t`event_type` text,\n\t`delivery_id` text,\n\t`content_type` text,\n\t`headers` text NOT NULL,\n\t`body` blob NOT NULL,\n\t`bytes` integer NOT NULL,\n\t`remote_ip` text,\n\tFOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `webhook_deliveries_id` ON `webhook_deliveries` (`id`);",
      "CREATE UNIQUE INDEX `webhook_deliveries_delivery` ON `webhook_deliveries` (`receiver_id`,`delivery_id`);",
      "CREATE INDEX `webhook_deliveries_receiver` ON `webhook_deliveries` (`receiver_id`,`sequence`);",
      "CREATE INDEX `webhook_deliveries_received` ON `webhook_deliveries` (`received_at`);",
      "CREATE TABLE `webhook_forwards` (\n\t`sequence` integer PRIMARY KEY NOT NULL,\n\t`receiver_id` text NOT NULL,\n\t`place` integer NOT NULL,\n\t`state` text NOT NULL,\n\t`attempts` integer DEFAULT 0 NOT NULL,\n\t`next_at` integer DEFAULT 0 NOT NULL,\n\t`last_status` integer,\n\t`last_error` text,\n\t`delivered_at` integer,\n\tFOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `webhook_forwards_waiting` ON `webhook_forwards` (`receiver_id`,`place`,`sequence`) WHERE state = 'waiting';",
      "CREATE TABLE `webhook_receivers` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`validator` text NOT NULL,\n\t`sealed_secret` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`stored_bytes` integer DEFAULT 0 NOT NULL,\n\t`stored_count` integer DEFAULT 0 NOT NULL,\n\t`received` integer DEFAULT 0 NOT NULL,\n\t`displaced` integer DEFAULT 0 NOT NULL,\n\t`last_received_at` integer,\n\t`refused_before` integer,\n\t`forward_tunnel_id` text,\n\t`forward_path` text,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `webhook_receivers_org` ON `webhook_receivers` (`org_id`);",
      "CREATE INDEX `webhook_receivers_forward` ON `webhook_receivers` (`forward_tunnel_id`) WHERE forward_tunnel_id IS NOT NULL;",
      "CREATE TABLE `webhook_refusals` (\n\t`receiver_id` text NOT NULL,\n\t`reason` text NOT NULL,\n\t`count` integer NOT NULL,\n\t`last_at` integer NOT NULL,\n\tPRIMARY KEY(`receiver_id`, `reason`),\n\tFOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE TABLE `ended_sessions` (\n\t`agent_id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`token_id` text NOT NULL,\n\t`remote_ip` text NOT NULL,\n\t`hostname` text NOT NULL,\n\t`started_at` integer NOT NULL,\n\t`ended_at` integer NOT NULL,\n\t`reason` text NOT NULL,\n\t`message` text NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `ended_sessions_org` ON `ended_sessions` (`org_id`,`ended_at`);",
      "CREATE INDEX `ended_sessions_ended` ON `ended_sessions` (`ended_at`);",
      "CREATE TABLE `metric_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`key_hash` text NOT NULL,\n\t`created_by` text,\n\t`created_at` integer NOT NULL,\n\t`last_used_at` integer,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `metric_keys_key_hash` ON `metric_keys` (`key_hash`);",
      "CREATE INDEX `metric_keys_org` ON `metric_keys` (`org_id`);",
      "CREATE TABLE `usage_buckets` (\n\t`org_id` text NOT NULL,\n\t`width_seconds` integer NOT NULL,\n\t`starts_at` integer NOT NULL,\n\t`requests` integer NOT NULL,\n\t`bytes_in` integer NOT NULL,\n\t`bytes_out` integer NOT NULL,\n\tPRIMARY KEY(`org_id`, `width_seconds`, `starts_at`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `usage_buckets_past` ON `usage_buckets` (`width_seconds`,`starts_at`);",
      "CREATE TABLE `pending_work` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`scope` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`at` integer NOT NULL,\n\t`actor` text NOT NULL,\n\t`details` text NOT NULL,\n\t`cursor` text DEFAULT '' NOT NULL\n);",
      "CREATE INDEX `pending_work_scope` ON `pending_work` (`scope`);",
      "CREATE INDEX `pending_work_org` ON `pending_work` (`org_id`,`id`);",
      "CREATE TABLE `audit_events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text,\n\t`at` integer NOT NULL,\n\t`action` text NOT NULL,\n\t`resource_type` text NOT NULL,\n\t`resource_id` text NOT NULL,\n\t`actor_kind` text NOT NULL,\n\t`actor_id` text,\n\t`actor_label` text NOT NULL,\n\t`ip_address` text NOT NULL,\n\t`details` text\n);",
      "CREATE INDEX `audit_events_org_at` ON `audit_events` (`org_id`,`at`);",
      "CREATE INDEX `audit_events_at` ON `audit_events` (`at`);",
      "CREATE INDEX `audit_events_actor_at` ON `audit_events` (`actor_id`,`at`);",
      "CREATE INDEX `audit_events_resource_at` ON `audit_events` (`resource_id`,`at`);",
      "CREATE TABLE `counters` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`value` integer NOT NULL\n);",
      "CREATE TABLE `node_cursors` (\n\t`node` text PRIMARY KEY NOT NULL,\n\t`sequence` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);",
      "CREATE TABLE `outgoing_mails` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`sealed_letter` text NOT NULL,\n\t`attempts` integer DEFAULT 0 NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`next_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL\n);",
      "CREATE INDEX `outgoing_mails_next` ON `outgoing_mails` (`next_at`);",
      "CREATE TABLE `server_identity` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`created_at` integer NOT NULL\n);",
      "CREATE TABLE `signing_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`purpose` text NOT NULL,\n\t`public_jwk` text NOT NULL,\n\t`sealed_private` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`retired_at` integer\n);",
      "CREATE TABLE `spent_once` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`expires_at` integer NOT NULL\n);",
      "CREATE INDEX `spent_once_expires` ON `spent_once` (`expires_at`);"
    ]
  },
  {
    "index": 2,
    "tag": "0001_tunnel_state",
    "hash": "85dadd6c274c48caf8cb72c3bb2f07aa53e6320f0a6aa79a8ca6000c0c199700",
    "statements": [
      "ALTER TABLE `tunnels` ADD `agent_id` text;",
      "ALTER TABLE `tunnels` ADD `agent_at` integer;",
      "ALTER TABLE `tunnels` ADD `agent_left` text;",
      "ALTER TABLE `tunnels` ADD `traffic_at` integer;",
      "CREATE INDEX `webhook_forwards_failing` ON `webhook_forwards` (`receiver_id`,`state`,`attempts`) WHERE (state = 'failed' OR (state = 'waiting' AND attempts >= 3));"
    ]
  },
  {
    "index": 3,
    "tag": "0002_latency_buckets",
    "hash": "4b58b1422ff196e2f845a90018c91c3a967527177df9b12dc6dd83ded2417013",
    "statements": [
      "CREATE TABLE `latency_buckets` (\n\t`scope_id` text NOT NULL,\n\t`width_seconds` integer NOT NULL,\n\t`starts_at` integer NOT NULL,\n\t`first_byte` blob NOT NULL,\n\t`total` blob NOT NULL,\n\t`status_1xx` integer NOT NULL,\n\t`status_2xx` integer NOT NULL,\n\t`status_3xx` integer NOT NULL,\n\t`status_4xx` integer NOT NULL,\n\t`status_5xx` integer NOT NULL,\n\t`canceled` integer NOT NULL,\n\t`bytes_in` integer NOT NULL,\n\t`bytes_out` integer NOT NULL,\n\t`connections` integer NOT NULL,\n\tPRIMARY KEY(`scope_id`, `width_seconds`, `starts_at`)\n);",
      "CREATE INDEX `latency_buckets_past` ON `latency_buckets` (`width_seconds`,`starts_at`);"
    ]
  },
  {
    "index": 4,
    "tag": "0003_inspector_settings",
    "hash": "70bc98fc56086caadeb8fa53d2cf9340139fd2b6e041bbbab457b97409535490",
    "statements": [
      "CREATE TABLE `inspector_settings` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`websocket_frames` integer,\n\t`mask` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);"
    ]
  },
  {
    "index": 5,
    "tag": "0004_alerts",
    "hash": "8a98cfa90bb4154ec1841ced50570ad6b8d933b26ff79e2d30e35d4a65923ca1",
    "statements": [
      "CREATE TABLE `alert_channels` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`rule_id` text NOT NULL,\n\t`place` integer NOT NULL,\n\t`type` text NOT NULL,\n\t`target` text NOT NULL,\n\t`sealed_settings` text NOT NULL,\n\t`last_sent_at` integer,\n\t`last_error` text,\n\t`failing_since` integer,\n\tFOREIGN KEY (`rule_id`) REFERENCES `alert_rules`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `alert_channels_rule` ON `alert_channels` (`rule_id`,`place`);",
      "CREATE INDEX `alert_channels_failing` ON `alert_channels` (`rule_id`) WHERE failing_since IS NOT NULL;",
      "CREATE TABLE `alert_incidents` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`rule_id` text NOT NULL,\n\t`org_id` text NOT NULL,\n\t`object_type` text NOT NULL,\n\t`object_id` text NOT NULL,\n\t`name` text NOT NULL,\n\t`title` text NOT NULL,\n\t`detail` text NOT NULL,\n\t`href` text NOT NULL,\n\t`state` text NOT NULL,\n\t`since` integer NOT NULL,\n\t`counted_from` integer NOT NULL,\n\t`fired_at` integer,\n\t`well_at` integer,\n\t`told_at` integer,\n\t`reminded_at` integer,\n\t`reminders` integer DEFAULT 0 NOT NULL,\n\t`end_told_at` integer,\n\tFOREIGN KEY (`rule_id`) REFERENCES `alert_rules`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `alert_incidents_open` ON `alert_incidents` (`rule_id`,`object_id`) WHERE state IN ('pending', 'firing', 'recovering');",
      "CREATE INDEX `alert_incidents_org` ON `alert_incidents` (`org_id`,`id`);",
      "CREATE INDEX `alert_incidents_untold` ON `alert_incidents` (`org_id`) WHERE end_told_at IS NULL;",
      "CREATE INDEX `alert_incidents_rule` ON `alert_incidents` (`rule_id`);",
      "CREATE TABLE `alert_messages` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`channel_id` text NOT NULL,\n\t`notice` text NOT NULL,\n\t`attempts` integer DEFAULT 0 NOT NULL,\n\t`next_at` integer NOT NULL,\n\tFOREIGN KEY (`channel_id`) REFERENCES `alert_channels`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `alert_messages_channel` ON `alert_messages` (`channel_id`,`id`);",
      "CREATE INDEX `alert_messages_due` ON `alert_messages` (`next_at`);",
      "CREATE INDEX `alert_messages_org` ON `alert_messages` (`org_id`);",
      "CREATE TABLE `alert_rules` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`kind` text NOT NULL,\n\t`tunnel_id` text,\n\t`threshold` real,\n\t`for_minutes` integer NOT NULL,\n\t`quiet_hours` text,\n\t`enabled` integer DEFAULT true NOT NULL,\n\t`active_since` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `alert_rules_org` ON `alert_rules` (`org_id`);",
      "CREATE INDEX `alert_rules_tunnel` ON `alert_rules` (`tunnel_id`);",
      "CREATE TABLE `known_addresses` (\n\t`org_id` text NOT NULL,\n\t`address` text NOT NULL,\n\t`last_at` integer NOT NULL,\n\tPRIMARY KEY(`org_id`, `address`),\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `known_addresses_last` ON `known_addresses` (`last_at`);"
    ]
  },
  {
    "index": 6,
    "tag": "0005_instance_settings",
    "hash": "5eb2e3bf6ed5537d09804fcd2a86ceb462cb4221fc169892a8ec9acf8d341ff0",
    "statements": [
      "CREATE TABLE `instance_settings` (\n\t`key` text PRIMARY KEY NOT NULL,\n\t`value` text,\n\t`sealed_value` text,\n\t`updated_at` integer NOT NULL\n);"
    ]
  },
  {
    "index": 7,
    "tag": "0006_webhook_attempts",
    "hash": "49ebd05952735db820591757194b4a2e2ed436e3989827a7f95e646af0c4e12e",
    "statements": [
      "CREATE TABLE `webhook_attempts` (\n\t`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,\n\t`sequence` integer NOT NULL,\n\t`receiver_id` text NOT NULL,\n\t`attempt` integer NOT NULL,\n\t`at` integer NOT NULL,\n\t`latency_ms` integer NOT NULL,\n\t`status` integer,\n\t`error` text,\n\t`content_type` text,\n\t`size` integer NOT NULL,\n\t`body` blob,\n\tFOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE INDEX `webhook_attempts_delivery` ON `webhook_attempts` (`sequence`,`id`);",
      "CREATE INDEX `webhook_attempts_bodies` ON `webhook_attempts` (`receiver_id`,`id`) WHERE body IS NOT NULL;",
      "DROP INDEX `webhook_forwards_failing`;",
      "ALTER TABLE `webhook_forwards` ADD `is_test` integer DEFAULT false NOT NULL;",
      "CREATE INDEX `webhook_forwards_failing` ON `webhook_forwards` (`receiver_id`,`state`,`attempts`) WHERE (is_test = 0 AND (state = 'failed' OR (state = 'waiting' AND attempts >= 3)));",
      "ALTER TABLE `capability_tokens` ADD `last_used_ip` text;",
      "ALTER TABLE `webhook_deliveries` ADD `is_test` integer DEFAULT false NOT NULL;",
      "ALTER TABLE `webhook_receivers` ADD `redelivery_key` text;",
      "ALTER TABLE `webhook_receivers` ADD `redelivery_count` integer;"
    ]
  },
  {
    "index": 8,
    "tag": "0007_org_exports",
    "hash": "321044e73d8381592eabaeb55096342f89cf1bb5e334d53610c97abfb51a965d",
    "statements": [
      "CREATE TABLE `org_exports` (\n\t`org_id` text PRIMARY KEY NOT NULL,\n\t`events` text NOT NULL,\n\t`otlp_endpoint` text,\n\t`sealed_headers` text,\n\t`webhook_url` text,\n\t`sealed_secret` text,\n\t`audit_cursor` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);"
    ]
  },
  {
    "index": 9,
    "tag": "0008_inspector_shares",
    "hash": "e5fbd853cd06fcdcaad09f0271d4a8882c9686dc32d618d02f015c152415f303",
    "statements": [
      "CREATE TABLE `inspector_shares` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`org_id` text NOT NULL,\n\t`record_id` text NOT NULL,\n\t`tunnel_id` text NOT NULL,\n\t`token_hash` text NOT NULL,\n\t`created_by` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`expires_at` integer NOT NULL,\n\tFOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action\n);",
      "CREATE UNIQUE INDEX `inspector_shares_token` ON `inspector_shares` (`token_hash`);",
      "CREATE INDEX `inspector_shares_org` ON `inspector_shares` (`org_id`,`created_at`);",
      "CREATE INDEX `inspector_shares_expiry` ON `inspector_shares` (`expires_at`);"
    ]
  },
  {
    "index": 10,
    "tag": "0009_redelivery_answer",
    "hash": "1c928dcfd099727e1673214a54844510bc0eab275970e661c7fa4b4cd8830ba3",
    "statements": [
      "ALTER TABLE `webhook_receivers` ADD `redelivery_matched` integer;",
      "ALTER TABLE `webhook_receivers` ADD `redelivery_continue_from` integer;"
    ]
  },
  {
    "index": 11,
    "tag": "0010_alert_confirmation",
    "hash": "8c4dc2f4d7dbc74cbe15386b4aa943114170699a612ebe9be272f90397f0cb72",
    "statements": [
      "ALTER TABLE `alert_channels` ADD `confirm_hash` text;",
      "ALTER TABLE `alert_channels` ADD `confirm_until` integer;",
      "CREATE INDEX `alert_channels_confirm` ON `alert_channels` (`confirm_hash`) WHERE confirm_hash IS NOT NULL;"
    ]
  },
  {
    "index": 12,
    "tag": "0011_agent_commands",
    "hash": "6fbc56bb1485c7578fcb8e80304fa06b72b0afe00563772aabb38822ae60f3ce",
    "statements": [
      "CREATE TABLE `agent_commands` (\n\t`tunnel_id` text PRIMARY KEY NOT NULL,\n\t`command` text NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action\n);"
    ]
  },
  {
    "index": 13,
    "tag": "0012_audit_changes",
    "hash": "e77e98559ce7817a5c5d333dc3bc475d324838d9dc9ebd8e519e17bf848c9710",
    "statements": [
      "ALTER TABLE `audit_events` ADD `resource_name` text;",
      "ALTER TABLE `audit_events` ADD `changes` text;"
    ]
  }
];
