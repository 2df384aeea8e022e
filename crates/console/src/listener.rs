//! The port for browsers: the page, and WebSockets for NetworkTables.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fieldlab_nt4::server::{ConnectInfo, Version};
use fieldlab_nt4_net::{Place, Room};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::assets::Page;
use crate::gate::MESSAGE_BYTES;
use crate::hosts::Hosts;
use crate::relay::Relay;
use crate::viewer;

/// TCP connections at once.
const CONNECTIONS: usize = 96;
/// How long a peer may take over its request, and between two of them.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Above this a message ends its connection; above [`MESSAGE_BYTES`] it only costs itself.
const HARD_MESSAGE_BYTES: usize = 16 * MESSAGE_BYTES;
/// Bytes that the system may hold for one viewer: on a slow link what is in there is old before it arrives.
const SEND_BUFFER: usize = 256 << 10;

const V41: &str = "v4.1.networktables.first.wpi.edu";
const V40: &str = "networktables.first.wpi.edu";
const RTT: &str = "rtt.networktables.first.wpi.edu";

/// What every answer says about how a browser may use it.
const SAFETY: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; connect-src 'self' ws:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What every request may use.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) relay: Arc<Relay>,
    pub(crate) page: Arc<Page>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) stop: watch::Receiver<bool>,
}

/// The connection that a request came on. Its place is held by it and by what it becomes.
#[derive(Clone)]
struct Connection {
    peer: SocketAddr,
    place: Place,
}

/// Accepts until told to stop.
pub(crate) async fn listen(listener: TcpListener, shared: Shared) {
    let router = Router::new()
        .route("/", get(index))
        .route("/assets/{*path}", get(asset))
        .route("/nt/{*name}", get(networktables))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared.clone());
    let mut stop = shared.stop.clone();
    let room = Room::new(CONNECTIONS);
    loop {
        tokio::select! {
            (stream, peer, place) = room.next(&listener) => {
                let connection = Connection { peer, place };
                tokio::spawn(serve(stream, connection, router.clone(), shared.stop.clone()));
            }
            _ = stop.changed() => {
                return room.emptied().await;
            }
        }
    }
}

async fn serve(stream: TcpStream, connection: Connection, router: Router, mut stop: watch::Receiver<bool>) {
    // A connection that cannot be tuned works all the same, only slower.
    drop(stream.set_nodelay(true));
    rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER).ok();
    let service = TowerToHyperService::new(router.layer(Extension(connection)));
    let http = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        // A connection that broke has nobody left to tell.
        served = http => drop(served),
        _ = stop.changed() => {}
    }
}

/// Every request passes here, and every answer.
async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // Twice the same header is nobody's honest request.
    let doubled = [header::HOST, header::ORIGIN].iter().any(|name| headers.get_all(name).iter().count() > 1);
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"));
    let allowed = if doubled {
        Err("one Host and one Origin are expected")
    } else {
        shared.hosts.check(text(header::HOST), text(header::ORIGIN))
    };
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err(why) => plain(StatusCode::FORBIDDEN, why),
    };
    for (name, value) in SAFETY {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn plain(status: StatusCode, words: &str) -> Response {
    (status, format!("{words}\n")).into_response()
}

async fn index(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    // The page's own name never changes, so a browser must ask each time whether it is still the one that it has.
    file(&shared, "index.html", "no-cache", &headers)
}

async fn asset(State(shared): State<Shared>, Path(path): Path<String>, headers: HeaderMap) -> Response {
    file(&shared, &format!("assets/{path}"), "public, max-age=31536000, immutable", &headers)
}

fn file(shared: &Shared, path: &str, keep: &'static str, headers: &HeaderMap) -> Response {
    let Some((asset, tag)) = shared.page.get(path) else { return plain(StatusCode::NOT_FOUND, "not found") };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let same =
        known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag));
    let mut response =
        if same { StatusCode::NOT_MODIFIED.into_response() } else { asset.bytes.into_response() };
    let told = response.headers_mut();
    told.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        told.insert(header::ETAG, tag);
    }
    response
}

async fn networktables(
    State(shared): State<Shared>,
    Extension(connection): Extension<Connection>,
    Path(name): Path<String>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(refused) => return refused.into_response(),
    };
    let upgrade = upgrade
        .protocols([V41, V40, RTT])
        .max_message_size(HARD_MESSAGE_BYTES)
        .max_frame_size(HARD_MESSAGE_BYTES)
        .write_buffer_size(64 << 10);
    let chosen = upgrade.selected_protocol().and_then(|chosen| chosen.to_str().ok()).map(str::to_owned);
    let version = match chosen.as_deref() {
        Some(V41) => Some(Version::V41),
        Some(V40) => Some(Version::V40),
        Some(RTT) => None,
        _ => return plain(StatusCode::BAD_REQUEST, "a NetworkTables 4 subprotocol is expected"),
    };
    let Connection { peer, place } = connection;
    let (relay, stop) = (shared.relay, shared.stop);
    upgrade.on_upgrade(move |socket| async move {
        match version {
            Some(version) => {
                let info = ConnectInfo { name, address: peer.to_string(), version, immediate: false };
                viewer::serve(socket, relay, info, stop).await;
            }
            None => viewer::serve_time(socket, relay, stop).await,
        }
        drop(place);
    })
}
