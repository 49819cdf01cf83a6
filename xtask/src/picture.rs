//! `cargo xtask picture`: the dashboard as docs/ shows it, drawn from what the demo told a Prometheus.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;
use std::{env, fs, io};

use test_support::Prometheus;

use crate::cargo::{cargo, status, workspace_root};
use crate::error::Error;
use crate::setup;

const EXAMPLE: [&str; 4] = ["--package", "idem-rs", "--example", "payments"];
const PICTURE: &str = "docs/dashboard.png";
const SIZE: &str = "1800,2300";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long the demo runs before
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let (redis, prometheus, chromium) = (setup::redis_server()?, setup::prometheus()?, setup::chromium()?);
    if !status(cargo(&["build"]).args(EXAMPLE))?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut demo = cargo(&["run", "--quiet"]);
    demo.args(EXAMPLE).args(["--", "serve", "--while-stdin"]).env("IDEM_REDIS_SERVER", redis);
    let demo = Demo::start(&mut demo).map_err(failed("the demo"))?;
    eprintln!("xtask: {} minutes of load, seen by {}", args.minutes, prometheus.display());
    let watching = watch(&demo.address).map_err(|error| failed("prometheus")(io::Error::other(error)))?;
    thread::sleep(Duration::from_secs(args.minutes * 60));

    let page = env::temp_dir().join(format!("idem-picture-{}.html", std::process::id()));
    fs::write(&page, filled(watching.port(), args.minutes * 60)?).map_err(failed("the page"))?;
    let taken = status(&mut screenshot(&chromium, &page));
    let _ = fs::remove_file(&page);
    if !taken?.success() {
        return Ok(ExitCode::FAILURE);
    }
    eprintln!("xtask: {PICTURE} is new; look at it");
    Ok(ExitCode::SUCCESS)
}

/// The rules as they are shipped: nothing is in a hurry here.
fn watch(address: &str) -> Result<Prometheus, test_support::Error> {
    let config = format!(
        "global: {{scrape_interval: 2s, evaluation_interval: 5s}}\nrule_files: [rules.yml]\n\
         scrape_configs: [{{job_name: payments, static_configs: [{{targets: ['{address}']}}]}}]\n"
    );
    let rules = fs::read_to_string(workspace_root().join("dashboards/prometheus/rules.yml"))?;
    Prometheus::start(&config, &[("rules.yml", &rules)])
}

fn filled(port: u16, seconds: u64) -> Result<String, Error> {
    let read = |file| fs::read_to_string(workspace_root().join(file)).map_err(failed(file));
    let page = read("dashboards/render/page.html")?;
    let page = page.replace("/*dashboard*/ null", &read("dashboards/grafana.json")?);
    let page = page.replace("/*prometheus*/ \"\"", &format!("\"http://127.0.0.1:{port}\""));
    Ok(page.replace("/*seconds*/ 0", &seconds.to_string()))
}

fn screenshot(chromium: &Path, page: &Path) -> Command {
    let mut command = Command::new(chromium);
    command
        // Containers have no namespaces to spare; the page is our own.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=60000"])
        .args([format!("--window-size={SIZE}"), format!("--screenshot={PICTURE}")])
        .arg(format!("file://{}", page.display()))
        .current_dir(workspace_root())
        .stderr(Stdio::null());
    command
}

fn failed(program: &str) -> impl FnOnce(io::Error) -> Error + use<> {
    let program = program.to_owned();
    move |source| Error::Run { program, source }
}

/// The demo while it serves. It ends with its standard input.
struct Demo {
    child: Child,
    address: String,
}

impl Demo {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("metrics: http://").trim_end_matches("/metrics").to_owned();
        Ok(Self { child, address })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.child.stdin = None;
        let _ = self.child.wait();
    }
}
