CREATE TABLE `email_codes` (
	`user_id` text PRIMARY KEY NOT NULL,
	`code_mac` text NOT NULL,
	`failed_attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`provider` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`email` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_user` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `mfa_factors` (
	`user_id` text PRIMARY KEY NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_step` integer NOT NULL,
	`failed_attempts` integer DEFAULT 0 NOT NULL,
	`locked_until` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `password_resets` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `password_resets_user` ON `password_resets` (`user_id`);--> statement-breakpoint
CREATE INDEX `password_resets_expires` ON `password_resets` (`expires_at`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`mac` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `recovery_codes_user` ON `recovery_codes` (`user_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`password_hash` text,
	`email_verified_at` integer,
	`is_superadmin` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`password_changed_at` integer,
	`password_unseen` integer DEFAULT false NOT NULL,
	`locked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);--> statement-breakpoint
CREATE TABLE `billing_events` (
	`id` text PRIMARY KEY NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `billing_events_received` ON `billing_events` (`received_at`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`invited_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`accepted_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`invited_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`org_id`,`email_key`) WHERE accepted_at IS NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE TABLE `memberships` (
	`org_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `user_id`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `memberships_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`plan` text NOT NULL,
	`approval_status` text NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug` ON `organizations` (`slug`);--> statement-breakpoint
CREATE INDEX `organizations_barred` ON `organizations` (`id`) WHERE approval_status <> 'approved';--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`org_id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`subscription_id` text,
	`status` text,
	`plan` text,
	`cycle` text,
	`current_period_ends_at` integer,
	`cancels` integer DEFAULT false NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `subscriptions_updated` ON `subscriptions` (`updated_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_customer` ON `subscriptions` (`customer_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_subscription` ON `subscriptions` (`subscription_id`);--> statement-breakpoint
CREATE TABLE `device_logins` (
	`code_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text NOT NULL,
	`token_id` text NOT NULL,
	`label` text NOT NULL,
	`sealed_wire` text NOT NULL,
	`approved_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`fetched_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `device_logins_expires` ON `device_logins` (`expires_at`);--> statement-breakpoint
CREATE TABLE `refresh_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`issued_at` integer NOT NULL,
	`rotated_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `refresh_tokens_session` ON `refresh_tokens` (`session_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`ip_address` text NOT NULL,
	`user_agent` text NOT NULL,
	`token_id` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `capability_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`project_id` text,
	`parent_id` text,
	`lineage_id` text,
	`created_by` text,
	`kind` text NOT NULL,
	`version` integer NOT NULL,
	`name` text NOT NULL,
	`nonce` text NOT NULL,
	`subject` text NOT NULL,
	`key_hash` text NOT NULL,
	`wire_bytes_len` integer NOT NULL,
	`tunnel_quota` integer NOT NULL,
	`bandwidth_limit_mbps` integer NOT NULL,
	`allowed_subdomains` text NOT NULL,
	`monthly_budget_usd_cents` integer,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`grace_ends_at` integer,
	`replaced_by` text,
	`revoked_at` integer,
	`last_used_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `capability_tokens_nonce` ON `capability_tokens` (`nonce`);--> statement-breakpoint
CREATE UNIQUE INDEX `capability_tokens_key_hash` ON `capability_tokens` (`key_hash`);--> statement-breakpoint
CREATE INDEX `capability_tokens_org` ON `capability_tokens` (`org_id`);--> statement-breakpoint
CREATE INDEX `capability_tokens_creator` ON `capability_tokens` (`created_by`);--> statement-breakpoint
CREATE INDEX `capability_tokens_expires` ON `capability_tokens` (`expires_at`);--> statement-breakpoint
CREATE INDEX `capability_tokens_revoked` ON `capability_tokens` (`revoked_at`) WHERE revoked_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `capability_tokens_parent` ON `capability_tokens` (`parent_id`);--> statement-breakpoint
CREATE INDEX `capability_tokens_lineage` ON `capability_tokens` (`lineage_id`);--> statement-breakpoint
CREATE INDEX `capability_tokens_grace` ON `capability_tokens` (`grace_ends_at`) WHERE grace_ends_at IS NOT NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`is_default` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_org_slug` ON `projects` (`org_id`,`slug`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `projects_org_default` ON `projects` (`org_id`) WHERE is_default = 1;--> statement-breakpoint
CREATE TABLE `revoked_nonces` (
	`token_id` text PRIMARY KEY NOT NULL,
	`nonce` text NOT NULL,
	`minter_id` text,
	`from_at` integer NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `revoked_nonces_minter` ON `revoked_nonces` (`minter_id`,`until`);--> statement-breakpoint
CREATE INDEX `revoked_nonces_until` ON `revoked_nonces` (`until`);--> statement-breakpoint
CREATE TABLE `token_spend` (
	`lineage_id` text NOT NULL,
	`month` text NOT NULL,
	`bytes` integer NOT NULL,
	`requests` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`lineage_id`, `month`)
);
--> statement-breakpoint
CREATE TABLE `basic_gates` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`username` text NOT NULL,
	`password_hash` text NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `dry_runs` (
	`tunnel_id` text NOT NULL,
	`action_index` integer NOT NULL,
	`refused` integer NOT NULL,
	`last_at` integer NOT NULL,
	`method` text,
	`path` text,
	`client_ip` text NOT NULL,
	`code` text NOT NULL,
	PRIMARY KEY(`tunnel_id`, `action_index`),
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `reserved_subdomains` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`subdomain` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reserved_subdomains_subdomain` ON `reserved_subdomains` (`subdomain`);--> statement-breakpoint
CREATE INDEX `reserved_subdomains_org` ON `reserved_subdomains` (`org_id`);--> statement-breakpoint
CREATE TABLE `resting_names` (
	`label` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`deleted_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `resting_names_deleted` ON `resting_names` (`deleted_at`);--> statement-breakpoint
CREATE TABLE `tunnel_policies` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`policy` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `tunnels` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`project_id` text NOT NULL,
	`label` text NOT NULL,
	`protocol` text NOT NULL,
	`local_port` integer NOT NULL,
	`tcp_port` integer,
	`status` text NOT NULL,
	`stopped` integer DEFAULT false NOT NULL,
	`ttl_seconds` integer,
	`started_at` integer DEFAULT 0 NOT NULL,
	`expires_at` integer,
	`expired` integer DEFAULT false NOT NULL,
	`ephemeral` integer DEFAULT false NOT NULL,
	`token_id` text,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	`total_requests` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`token_id`) REFERENCES `capability_tokens`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tunnels_live_label` ON `tunnels` (`label`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `tunnels_live_port` ON `tunnels` (`tcp_port`) WHERE deleted_at IS NULL AND tcp_port IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tunnels_live_org` ON `tunnels` (`org_id`,`deleted_at`,`created_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `tunnels_made` ON `tunnels` (`org_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `tunnels_idle` ON `tunnels` (`touched_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `tunnels_deleted` ON `tunnels` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tunnels_token` ON `tunnels` (`token_id`);--> statement-breakpoint
CREATE INDEX `tunnels_due` ON `tunnels` (`expires_at`) WHERE deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `visitor_gates` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`allowed_domains` text NOT NULL,
	`allowed_emails` text NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `acme_accounts` (
	`directory_url` text PRIMARY KEY NOT NULL,
	`account_url` text NOT NULL,
	`sealed_key` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `certificates` (
	`name` text PRIMARY KEY NOT NULL,
	`org_id` text,
	`chain` text,
	`sealed_key` text,
	`expires_at` integer,
	`next_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_error` text,
	`last_attempt_at` integer,
	`interruptions` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `certificates_next` ON `certificates` (`next_at`);--> statement-breakpoint
CREATE INDEX `certificates_expires` ON `certificates` (`expires_at`);--> statement-breakpoint
CREATE TABLE `domains` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`domain` text NOT NULL,
	`verification_token` text NOT NULL,
	`verified_at` integer,
	`checked_at` integer,
	`failing_since` integer,
	`tunnel_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `domains_org_domain` ON `domains` (`org_id`,`domain`);--> statement-breakpoint
CREATE UNIQUE INDEX `domains_verified` ON `domains` (`domain`) WHERE verified_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `domains_tunnel` ON `domains` (`tunnel_id`);--> statement-breakpoint
CREATE INDEX `domains_checked` ON `domains` (`checked_at`) WHERE verified_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `network_devices` (
	`id` text PRIMARY KEY NOT NULL,
	`network_id` text NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`host` integer NOT NULL,
	`extra_allowed_ips` text NOT NULL,
	`expires_at` integer,
	`expired` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_handshake_at` integer,
	`last_seen_at` integer,
	`endpoint` text,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`network_id`) REFERENCES `private_networks`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `network_devices_host` ON `network_devices` (`network_id`,`host`);--> statement-breakpoint
CREATE UNIQUE INDEX `network_devices_key` ON `network_devices` (`network_id`,`public_key`);--> statement-breakpoint
CREATE INDEX `network_devices_org` ON `network_devices` (`org_id`,`network_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `network_devices_due` ON `network_devices` (`expires_at`) WHERE expired = 0 AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `private_networks` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`cidr` text NOT NULL,
	`server_public_key` text,
	`server_listen_port` integer,
	`reserved_udp_port` integer,
	`self_endpoint` text,
	`dns` text NOT NULL,
	`extra_allowed_ips` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	`packets_in` integer DEFAULT 0 NOT NULL,
	`packets_out` integer DEFAULT 0 NOT NULL,
	`device_lost_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `private_networks_org_name` ON `private_networks` (`org_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `private_networks_port` ON `private_networks` (`reserved_udp_port`) WHERE reserved_udp_port IS NOT NULL;--> statement-breakpoint
CREATE TABLE `resting_ports` (
	`transport` text NOT NULL,
	`port` integer NOT NULL,
	`org_id` text,
	`freed_at` integer NOT NULL,
	PRIMARY KEY(`transport`, `port`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`receiver_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`event_type` text,
	`delivery_id` text,
	`content_type` text,
	`headers` text NOT NULL,
	`body` blob NOT NULL,
	`bytes` integer NOT NULL,
	`remote_ip` text,
	FOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_id` ON `webhook_deliveries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_delivery` ON `webhook_deliveries` (`receiver_id`,`delivery_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_receiver` ON `webhook_deliveries` (`receiver_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_received` ON `webhook_deliveries` (`received_at`);--> statement-breakpoint
CREATE TABLE `webhook_forwards` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`receiver_id` text NOT NULL,
	`place` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer DEFAULT 0 NOT NULL,
	`last_status` integer,
	`last_error` text,
	`delivered_at` integer,
	FOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_forwards_waiting` ON `webhook_forwards` (`receiver_id`,`place`,`sequence`) WHERE state = 'waiting';--> statement-breakpoint
CREATE TABLE `webhook_receivers` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`validator` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`stored_bytes` integer DEFAULT 0 NOT NULL,
	`stored_count` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`displaced` integer DEFAULT 0 NOT NULL,
	`last_received_at` integer,
	`refused_before` integer,
	`forward_tunnel_id` text,
	`forward_path` text,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_receivers_org` ON `webhook_receivers` (`org_id`);--> statement-breakpoint
CREATE INDEX `webhook_receivers_forward` ON `webhook_receivers` (`forward_tunnel_id`) WHERE forward_tunnel_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhook_refusals` (
	`receiver_id` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`receiver_id`, `reason`),
	FOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`token_id` text NOT NULL,
	`remote_ip` text NOT NULL,
	`hostname` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`reason` text NOT NULL,
	`message` text NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_org` ON `ended_sessions` (`org_id`,`ended_at`);--> statement-breakpoint
CREATE INDEX `ended_sessions_ended` ON `ended_sessions` (`ended_at`);--> statement-breakpoint
CREATE TABLE `metric_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `metric_keys_key_hash` ON `metric_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `metric_keys_org` ON `metric_keys` (`org_id`);--> statement-breakpoint
CREATE TABLE `usage_buckets` (
	`org_id` text NOT NULL,
	`width_seconds` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`requests` integer NOT NULL,
	`bytes_in` integer NOT NULL,
	`bytes_out` integer NOT NULL,
	PRIMARY KEY(`org_id`, `width_seconds`, `starts_at`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `usage_buckets_past` ON `usage_buckets` (`width_seconds`,`starts_at`);--> statement-breakpoint
CREATE TABLE `pending_work` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`scope` text NOT NULL,
	`org_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`details` text NOT NULL,
	`cursor` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pending_work_scope` ON `pending_work` (`scope`);--> statement-breakpoint
CREATE INDEX `pending_work_org` ON `pending_work` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_label` text NOT NULL,
	`ip_address` text NOT NULL,
	`details` text
);
--> statement-breakpoint
CREATE INDEX `audit_events_org_at` ON `audit_events` (`org_id`,`at`);--> statement-breakpoint
CREATE INDEX `audit_events_at` ON `audit_events` (`at`);--> statement-breakpoint
CREATE INDEX `audit_events_actor_at` ON `audit_events` (`actor_id`,`at`);--> statement-breakpoint
CREATE INDEX `audit_events_resource_at` ON `audit_events` (`resource_id`,`at`);--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `node_cursors` (
	`node` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `outgoing_mails` (
	`id` text PRIMARY KEY NOT NULL,
	`sealed_letter` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`next_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outgoing_mails_next` ON `outgoing_mails` (`next_at`);--> statement-breakpoint
CREATE TABLE `server_identity` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`public_jwk` text NOT NULL,
	`sealed_private` text NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer
);
--> statement-breakpoint
CREATE TABLE `spent_once` (
	`id` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `spent_once_expires` ON `spent_once` (`expires_at`);