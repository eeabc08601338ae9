CREATE TABLE `alert_channels` (
	`id` text PRIMARY KEY NOT NULL,
	`rule_id` text NOT NULL,
	`place` integer NOT NULL,
	`type` text NOT NULL,
	`target` text NOT NULL,
	`sealed_settings` text NOT NULL,
	`last_sent_at` integer,
	`last_error` text,
	`failing_since` integer,
	FOREIGN KEY (`rule_id`) REFERENCES `alert_rules`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `alert_channels_rule` ON `alert_channels` (`rule_id`,`place`);--> statement-breakpoint
CREATE INDEX `alert_channels_failing` ON `alert_channels` (`rule_id`) WHERE failing_since IS NOT NULL;--> statement-breakpoint
CREATE TABLE `alert_incidents` (
	`id` text PRIMARY KEY NOT NULL,
	`rule_id` text NOT NULL,
	`org_id` text NOT NULL,
	`object_type` text NOT NULL,
	`object_id` text NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`detail` text NOT NULL,
	`href` text NOT NULL,
	`state` text NOT NULL,
	`since` integer NOT NULL,
	`counted_from` integer NOT NULL,
	`fired_at` integer,
	`well_at` integer,
	`told_at` integer,
	`reminded_at` integer,
	`reminders` integer DEFAULT 0 NOT NULL,
	`end_told_at` integer,
	FOREIGN KEY (`rule_id`) REFERENCES `alert_rules`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_incidents_open` ON `alert_incidents` (`rule_id`,`object_id`) WHERE state IN ('pending', 'firing', 'recovering');--> statement-breakpoint
CREATE INDEX `alert_incidents_org` ON `alert_incidents` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `alert_incidents_untold` ON `alert_incidents` (`org_id`) WHERE end_told_at IS NULL;--> statement-breakpoint
CREATE INDEX `alert_incidents_rule` ON `alert_incidents` (`rule_id`);--> statement-breakpoint
CREATE TABLE `alert_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`notice` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer NOT NULL,
	FOREIGN KEY (`channel_id`) REFERENCES `alert_channels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `alert_messages_channel` ON `alert_messages` (`channel_id`,`id`);--> statement-breakpoint
CREATE INDEX `alert_messages_due` ON `alert_messages` (`next_at`);--> statement-breakpoint
CREATE INDEX `alert_messages_org` ON `alert_messages` (`org_id`);--> statement-breakpoint
CREATE TABLE `alert_rules` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`kind` text NOT NULL,
	`tunnel_id` text,
	`threshold` real,
	`for_minutes` integer NOT NULL,
	`quiet_hours` text,
	`enabled` integer DEFAULT true NOT NULL,
	`active_since` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `alert_rules_org` ON `alert_rules` (`org_id`);--> statement-breakpoint
CREATE INDEX `alert_rules_tunnel` ON `alert_rules` (`tunnel_id`);--> statement-breakpoint
CREATE TABLE `known_addresses` (
	`org_id` text NOT NULL,
	`address` text NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `address`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `known_addresses_last` ON `known_addresses` (`last_at`);